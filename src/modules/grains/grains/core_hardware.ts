/** Hardware grains: processors, memory, disks and virtualization. */

import { availableParallelism, cpus, totalmem } from 'node:os';
import { readOr } from '../../_shared/files/read-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import type { PlainDict } from '../../api.ts';
import { detectVirtual } from '../virtual.ts';

/**
 * Processors: number, model and flags, from /proc/cpuinfo.
 */
export const cpu_data = (): PlainDict => {
  const text = readOr('/proc/cpuinfo');
  if (text === undefined)
    return {
      num_cpus: availableParallelism(),
      cpu_model: cpus()[0]?.model ?? 'Unknown',
      cpu_flags: [],
    };
  const value = (...keys: string[]): string | undefined => {
    for (const key of keys) {
      const found = new RegExp(`^${key}\\s*:\\s*(.*)$`, 'm').exec(text)?.[1]?.trim();
      if (found) return found;
    }
    return undefined;
  };
  return {
    num_cpus: text.match(/^processor\s*:/gm)?.length ?? Number(value('# processors') ?? 0),
    cpu_model: value('model name', 'cpu', 'Processor', 'vendor_id') ?? 'Unknown',
    cpu_flags: value('flags', 'Features')?.split(/\s+/) ?? [],
  };
};

/**
 * Memory and swap in MiB.
 */
export const mem_data = (): PlainDict => {
  const text = readOr('/proc/meminfo') ?? '';
  const mib = (key: string): number | undefined => {
    const kib = new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(text)?.[1];
    return kib === undefined ? undefined : Math.floor(Number(kib) / 1024);
  };
  return {
    mem_total: mib('MemTotal') ?? Math.floor(totalmem() / 1024 / 1024),
    swap_total: mib('SwapTotal') ?? 0,
  };
};

/**
 * Returns the firmware's information about the machine.
 */
export const hw_data = (): PlainDict => {
  const files: Record<string, string> = {
    biosversion: 'bios_version',
    biosvendor: 'bios_vendor',
    biosreleasedate: 'bios_date',
    productname: 'product_name',
    manufacturer: 'sys_vendor',
    uuid: 'product_uuid',
    serialnumber: 'product_serial',
    boardname: 'board_name',
  };
  const grains: PlainDict = {};
  for (const [grain, file] of Object.entries(files)) {
    const text = readOr(`/sys/class/dmi/id/${file}`)?.trim();
    if (text && !/^(none|to be filled|not specified|default string|n\/a)/i.test(text))
      grains[grain] = grain === 'uuid' ? text.toLowerCase() : text;
  }
  const tree = readOr('/proc/device-tree/model')?.replaceAll('\0', '').trim();
  return tree && grains.productname === undefined ? { ...grains, productname: tree } : grains;
};

/** The hypervisor or container that runs this system; `physical` if there is none. */
export const virtual = (): PlainDict => detectVirtual();

/** UEFI firmware. */
export const uefi = (): PlainDict => {
  const folder = ['/sys/firmware/efi/efivars', '/sys/firmware/efi/vars'].find(existsSync);
  const variable = readOr(
    '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c',
  );
  return { efi: folder !== undefined, 'efi-secure-boot': variable?.endsWith('\x01') ?? false };
};
