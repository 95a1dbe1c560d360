import { isNativeArch, nativeArch } from './rpm.ts';

/** The architectures that rpm knows, as Salt counts them. */
const arches = new Set(
  `x86_64 athlon amd64 ia32e ia64 geode i386 i486 i586 i686 ppc ppc64 ppc64le ppc64iseries
  ppc64pseries s390 s390x alpha alphaev4 alphaev45 alphaev5 alphaev56 alphapca56 alphaev6 alphaev67
  alphaev68 alphaev7 armv5tel armv5tejl armv6l armv6hl armv7l armv7hl armv7hnl aarch64 sh3 sh4 sh4a
  noarch`.split(/\s+/),
);

/** Splits `glibc.i686`; the architecture is null if it is missing. */
export const splitArch = (name: string): { name: string; arch: string | null } => {
  const at = name.lastIndexOf('.');
  return at > 0 && arches.has(name.slice(at + 1))
    ? { name: name.slice(0, at), arch: name.slice(at + 1) }
    : { name, arch: null };
};

/**
 * Returns a package's name without this system's own architecture.
 *
 * @param name a package, maybe with `.arch`
 * @example tsalt-ssh '*' pkg.normalize_name zsh.x86_64
 */
export const normalizeRpmName = async (name: string): Promise<string> => {
  const { name: plain, arch } = splitArch(name);
  return arch !== null && isNativeArch(arch, nativeArch()) ? plain : name;
};

/**
 * Returns a package's name and its architecture; null if the architecture is missing.
 *
 * @param name a package, maybe with `.arch`
 * @example tsalt-ssh '*' pkg.parse_arch zsh.i686
 */
export const parseRpmArch = async (name: string): Promise<{ name: string; arch: string | null }> =>
  splitArch(name);
