import { readOr } from '../_shared/files/read-file.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';

/** A machine's `virtual` grain; see `detectVirtual`. */
export type Virtual = { virtual: string; virtual_subtype?: string };

/**
 * Detects the hypervisor or container that runs this system from the kernel's files, with Salt's
 * names.
 *
 * @param root where /proc, /sys and /run are, for tests
 */
export const detectVirtual = (root = ''): Virtual => container(root) ?? machine(root);

const container = (root: string): Virtual | undefined => {
  const environment = readOr(`${root}/proc/1/environ`) ?? '';
  const name =
    readOr(`${root}/run/systemd/container`)?.trim() ??
    /(?:^|\0)container=([^\0]*)/.exec(environment)?.[1];
  if (name === 'systemd-nspawn') return { virtual: 'systemd-nspawn' };
  if (name === 'lxc' || name === 'lxc-libvirt')
    return { virtual: 'container', virtual_subtype: 'LXC' };
  if (name === 'docker' || existsSync(`${root}/.dockerenv`))
    return { virtual: 'container', virtual_subtype: 'Docker' };
  if (name === 'podman' || existsSync(`${root}/run/.containerenv`))
    return { virtual: 'container', virtual_subtype: 'Podman' };
  const groups = readOr(`${root}/proc/1/cgroup`) ?? '';
  if (/\/lxc\//.test(groups)) return { virtual: 'container', virtual_subtype: 'LXC' };
  if (/\/docker\/|docker-[0-9a-f]{12}/.test(groups))
    return { virtual: 'container', virtual_subtype: 'Docker' };
  if (/kubepods/.test(groups)) return { virtual: 'container', virtual_subtype: 'Kubernetes' };
  if (existsSync(`${root}/proc/vz`) && !existsSync(`${root}/proc/bc`))
    return { virtual: 'openvzve' };
  return name ? { virtual: 'container', virtual_subtype: name } : undefined;
};

/** Names in firmware data, in the order in which they are tested. */
const firmware: readonly [RegExp, Virtual][] = [
  [/Amazon EC2/, { virtual: 'Nitro', virtual_subtype: 'Amazon EC2' }],
  [/VMware/, { virtual: 'VMware' }],
  [/VirtualBox|innotek/i, { virtual: 'VirtualBox' }],
  [/Parallels/, { virtual: 'Parallels' }],
  [/Microsoft Corporation[\s\S]*Virtual Machine/, { virtual: 'VirtualPC' }],
  [/oVirt/, { virtual: 'kvm', virtual_subtype: 'ovirt' }],
  [/RHEV Hypervisor/, { virtual: 'kvm', virtual_subtype: 'rhev' }],
  [/BHYVE/, { virtual: 'bhyve' }],
  [/Xen|HVM domU/, { virtual: 'xen', virtual_subtype: 'Xen HVM DomU' }],
  [/Google|QEMU|Bochs|SeaBIOS|KVM|OpenStack/, { virtual: 'kvm' }],
];

const machine = (root: string): Virtual => {
  const capabilities = readOr(`${root}/proc/xen/capabilities`);
  if (capabilities !== undefined)
    return {
      virtual: 'xen',
      virtual_subtype: capabilities.includes('control_d') ? 'Xen Dom0' : 'Xen PV DomU',
    };
  const told = ['sys_vendor', 'product_name', 'board_vendor', 'bios_vendor']
    .map(file => readOr(`${root}/sys/class/dmi/id/${file}`)?.trim() ?? '')
    .join('\n');
  const match = firmware.find(([pattern]) => pattern.test(told));
  if (match) return match[1];
  const hypervisor = /^flags\s*:.*\bhypervisor\b/m.test(readOr(`${root}/proc/cpuinfo`) ?? '');
  return { virtual: hypervisor ? 'kvm' : 'physical' };
};
