import { messageOf } from '../../../../protocol/error.ts';
import { CommandExecutionError } from '../../../api.ts';
import { listRabbitmq, type RunAs, runRabbitmq } from '../../rabbitmq-run.ts';
import { redactUris, type UpstreamOptions, upstreamSettings } from '../../rabbitmq-upstream.ts';

const component = 'federation-upstream';

/**
 * The upstreams of federation, with their settings as JSON; passwords of their URIs among them.
 *
 * @example tsalt-ssh '*' rabbitmq.list_upstreams
 */
export const list_upstreams = async (options: RunAs = {}): Promise<{ [name: string]: string }> =>
  Object.fromEntries(
    (await listRabbitmq(['list_parameters'], options))
      .filter(row => row.component === component)
      .map(({ name, value }) => [
        String(name),
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
  );

/**
 * Whether an upstream is there.
 *
 * @param name the upstream
 * @example tsalt-ssh '*' rabbitmq.upstream_exists mq1
 */
export const upstream_exists = async (name: string, options: RunAs = {}): Promise<boolean> =>
  Object.hasOwn(await list_upstreams(options), name);

/**
 * Sets an upstream of federation in the virtual host `/`. RabbitMQ 3.8 or newer takes it from its
 * standard input, so that no password appears in a command line.
 *
 * @param name the upstream
 * @param uri `amqp://user:password@host`, several as a list, or with blanks between them
 * @example tsalt-ssh '*' rabbitmq.set_upstream mq1 uri=amqp://mq1.example.com max_hops=1
 */
export const set_upstream = async (
  name: string,
  uri: string | string[],
  given: UpstreamOptions & RunAs = {},
): Promise<true> => {
  const { runas = null, ...options } = given;
  const value = upstreamSettings(uri, options);
  const definitions = { parameters: [{ component, vhost: '/', name, value }] };
  try {
    const words = ['rabbitmqctl', '--quiet', 'import_definitions'] as const;
    await runRabbitmq(words, { runas }, JSON.stringify(definitions));
  } catch (error) {
    // The cause is left out, since it contains the password too.
    throw new CommandExecutionError(redactUris(messageOf(error)));
  }
  return true;
};

/**
 * Deletes an upstream.
 *
 * @param name the upstream
 * @example tsalt-ssh '*' rabbitmq.delete_upstream mq1
 */
export const delete_upstream = async (name: string, options: RunAs = {}): Promise<true> => {
  await runRabbitmq(['rabbitmqctl', 'clear_parameter', '--', component, name], options);
  return true;
};
