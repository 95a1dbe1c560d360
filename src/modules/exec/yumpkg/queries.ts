import { rpmFileDict, rpmFileList, rpmOwner } from '../../lib/rpm-files.ts';
import { rpmInfoInstalled } from '../../lib/rpm-info.ts';
import { normalizeRpmName, parseRpmArch } from '../../lib/rpm-names.ts';
import { rpmModified, rpmVerify } from '../../lib/rpm-verify.ts';

export const info_installed = rpmInfoInstalled;
export const file_list = rpmFileList;
export const file_dict = rpmFileDict;
export const owner = rpmOwner;
export const verify = rpmVerify;
export const modified = rpmModified;
export const normalize_name = normalizeRpmName;
export const parse_arch = parseRpmArch;
