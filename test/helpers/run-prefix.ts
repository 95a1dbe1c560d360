/**
 * Returns how the names of temporary folders of one run of vitest begin. They are as short as
 * possible, since sockets have short paths.
 *
 * @param pid the main process of the run
 */
export const runPrefix = (pid: number): string => `tsalt-${pid.toString(36)}-`;
