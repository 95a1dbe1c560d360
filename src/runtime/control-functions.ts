import { splitFunctionName } from '../data/signatures/function-name.ts';
import { CommandExecutionError, getContext } from '../modules/api.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { type FunctionSignature, openSignature } from '../protocol/meta.ts';
import type { Resolved } from './registry-types.ts';

/** The execution functions of the control node. This host forwards their calls. */
export class ControlFunctions {
  readonly #manifest: Manifest;
  #names: ReadonlySet<string> | undefined;
  #signatures: Readonly<Record<string, FunctionSignature>> | undefined;

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
  }

  names(): ReadonlySet<string> {
    this.#names ??= new Set(this.#manifest.control.split(' ').filter(Boolean));
    return this.#names;
  }

  find(name: string): Resolved | undefined {
    if (!this.names().has(name)) return undefined;
    const [module, fun = ''] = splitFunctionName(name);
    this.#signatures ??= JSON.parse(this.#manifest.controlSignatures ?? '{}') as Record<
      string,
      FunctionSignature
    >;
    return {
      ok: true,
      module,
      fun,
      signature: this.#signatures[name] ?? openSignature,
      call: async (args, kwargs) => {
        const { control } = getContext();
        if (!control) throw new CommandExecutionError(`'${name}' needs the control node`);
        return control.request('control.call', { fun: name, args, kwargs });
      },
    };
  }
}
