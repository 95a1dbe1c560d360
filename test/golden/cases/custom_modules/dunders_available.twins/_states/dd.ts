import type { Plain, StateReturn } from 'tsalt-ssh/module';
import {
  __env__,
  __grains__,
  __low__,
  __lowstate__,
  __opts__,
  __pillar__,
  __running__,
  __salt__,
} from 'tsalt-ssh/module';

type Options = { [key: string]: Plain | undefined };

export const go = async (name: string, { ...rest }: Options = {}): Promise<StateReturn> => {
  void rest;
  const comment = [
    __grains__.os,
    __pillar__.k,
    __opts__.test ? 'True' : 'False',
    String(__env__),
    await __salt__['helper.hi']('x'),
    __low__.__id__,
    String(__lowstate__.length),
    `[${Object.keys(__running__).sort().join(', ')}]`,
    Object.keys(__low__).sort().join(','),
  ];
  return { name, result: true, changes: {}, comment };
};
