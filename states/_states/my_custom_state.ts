/**
 * A whole state module: the example of Salt's document "State Modules", in TypeScript.
 *
 * @maintainer the tsalt-ssh authors
 * @depends my_custom_module
 */
import { __opts__, __salt__, SaltInvocationError, type StateReturn } from 'tsalt-ssh/module';

/**
 * Enforce the state of a custom thing.
 *
 * This state module does a custom thing. It calls the execution module `my_custom_module` to
 * look at the system and to make the changes that are needed.
 *
 * @param name the thing to do something to
 * @param foo a required argument
 * @param bar an argument with a default value
 */
export const enforce_custom_thing = async (
  name: string,
  { foo, bar = true }: { foo: string; bar?: boolean },
): Promise<StateReturn> => {
  const ret: StateReturn = { name, changes: {}, result: false, comment: '' };

  // Basic checks first: do the arguments make sense and agree with each other?
  if (bar && foo.startsWith('Foo'))
    throw new SaltInvocationError(
      'Argument "foo" cannot start with "Foo" if argument "bar" is True.',
    );

  // Does anything need to change?
  const current = await __salt__['my_custom_module.current_state'](name);
  if (current === foo)
    return { ...ret, result: true, comment: 'System already in the correct state' };

  // It does. In test mode the state says so and changes nothing.
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      comment: `The state of "${name}" will be changed.`,
      changes: { old: current, new: foo },
    };

  const changed = await __salt__['my_custom_module.change_state'](name, foo);
  return {
    ...ret,
    result: true,
    comment: `The state of "${name}" was changed!`,
    changes: { old: current, new: changed },
  };
};
