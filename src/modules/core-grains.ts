/** The grains that every host collects: what src/modules/grains/grains returns. */
export type CoreGrains = {
  // biome-ignore lint/suspicious/noExplicitAny: other grains are those of the user's modules and files
  readonly [name: string]: any;
  /** The minion id: the name of the host in the roster. */
  readonly id: string;
  readonly server_id: number;
  /** The distribution: `Debian`, `Ubuntu`, `Rocky`. */
  readonly os: string;
  /** Its family: `Debian`, `RedHat`, `Suse`, `Arch`. */
  readonly os_family: string;
  readonly osfullname?: string;
  /** The release as text: `12`, `24.04`; absent on rolling distributions. */
  readonly osrelease?: string;
  readonly osrelease_info?: readonly (number | string)[];
  readonly osmajorrelease?: number;
  readonly oscodename?: string;
  /** Name and release: `Debian-12`. */
  readonly osfinger?: string;
  /** The architecture of packages: `amd64`, `x86_64`. */
  readonly osarch: string;
  /** `Linux`, `Darwin`. */
  readonly kernel: string;
  readonly kernelrelease: string;
  readonly kernelversion: string;
  readonly kernelparams?: readonly (readonly [name: string, value: string | null])[];
  /** The architecture of the processor: `x86_64`, `aarch64`. */
  readonly cpuarch: string;
  /** The init system: `systemd`, `openrc`, `sysvinit`. */
  readonly init: string;
  readonly systemd?: { readonly version: string };
  readonly selinux?: { readonly enabled: boolean; readonly enforced?: string };
  readonly lsb_distrib_id?: string;
  readonly lsb_distrib_release?: string;
  readonly lsb_distrib_codename?: string;
  readonly lsb_distrib_description?: string;
  /** The name of the host without its domain. */
  readonly host: string;
  readonly nodename: string;
  readonly localhost: string;
  readonly domain: string;
  readonly fqdn: string;
  readonly fqdn_ip4: readonly string[];
  readonly fqdn_ip6: readonly string[];
  readonly fqdns: readonly string[];
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  /** Addresses by interface. */
  readonly ip_interfaces: { readonly [device: string]: readonly string[] };
  readonly ip4_interfaces: { readonly [device: string]: readonly string[] };
  readonly ip6_interfaces: { readonly [device: string]: readonly string[] };
  readonly hwaddr_interfaces: { readonly [device: string]: string };
  /** Whether there is a default gateway. */
  readonly ip_gw: boolean;
  readonly ip4_gw: string | boolean;
  readonly ip6_gw: string | boolean;
  readonly dns: { readonly [setting: string]: readonly string[] | string };
  readonly num_cpus: number;
  readonly cpu_model: string;
  readonly cpu_flags: readonly string[];
  /** In MiB. */
  readonly mem_total: number;
  /** In MiB. */
  readonly swap_total: number;
  readonly biosversion?: string;
  readonly biosvendor?: string;
  readonly biosreleasedate?: string;
  readonly productname?: string;
  readonly manufacturer?: string;
  readonly serialnumber?: string;
  readonly uuid?: string;
  /** `physical`, `kvm`, `container`, `LXC`. */
  readonly virtual: string;
  readonly virtual_subtype?: string;
  readonly efi: boolean;
  readonly 'efi-secure-boot': boolean;
  readonly locale_info: {
    readonly defaultlanguage: string | null;
    readonly defaultencoding: string | null;
    readonly detectedencoding: string;
    readonly timezone: string;
  };
  readonly machine_id: string;
  /** The account of the run. */
  readonly username: string;
  readonly groupname: string;
  readonly uid: number;
  readonly gid: number;
  readonly pid: number;
  readonly cwd: string;
  readonly path: string;
  readonly systempath: readonly string[];
  readonly shell: string;
  readonly ps: string;
  readonly nodeversion: readonly number[];
  readonly nodeexecutable: string;
  readonly pythonversion: readonly (number | string)[];
  /** The release of Salt whose behaviour is reproduced. */
  readonly saltversion: string;
  readonly saltversioninfo: readonly number[];
  readonly saltpath: string;
  readonly master: string;
};
