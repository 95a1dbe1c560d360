import { rpmFileDict, rpmFileList, rpmOwner } from '../../rpm-files.ts';
import { rpmInfoInstalled } from '../../rpm-info.ts';
import { normalizeRpmName, parseRpmArch } from '../../rpm-names.ts';
import { rpmModified, rpmVerify } from '../../rpm-verify.ts';

export const info_installed = rpmInfoInstalled;
export const file_list = rpmFileList;
export const file_dict = rpmFileDict;
export const owner = rpmOwner;
export const verify = rpmVerify;
export const modified = rpmModified;
export const normalize_name = normalizeRpmName;
export const parse_arch = parseRpmArch;
