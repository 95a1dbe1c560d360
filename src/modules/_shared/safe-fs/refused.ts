import { CommandExecutionError } from '../../api.ts';

/** Root does not go where another account leads it. States fail by this text. */
export class RefusedPath extends CommandExecutionError {}
