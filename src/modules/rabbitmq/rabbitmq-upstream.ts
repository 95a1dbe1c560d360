import { redactUrl } from '../_shared/sources/source-url.ts';
import type { Plain, PlainDict } from '../api.ts';

export type UpstreamOptions = {
  /** how many messages may be on their way without being acknowledged */
  prefetch_count?: number | null;
  /** seconds to wait before connecting again */
  reconnect_delay?: number | null;
  /** `on-confirm`, `on-publish` or `no-ack` */
  ack_mode?: string | null;
  /** true: keep the `user-id` of messages */
  trust_user_id?: boolean | null;
  /** name of the exchange there, when it is another */
  exchange?: string | null;
  /** how many links a message may pass */
  max_hops?: number | null;
  /** milliseconds after which the other side forgets this one */
  expires?: number | null;
  /** milliseconds that messages wait there */
  message_ttl?: number | null;
  /** `x-ha-policy` of the queue there */
  ha_policy?: string | null;
  /** name of the queue there, when it is another */
  queue?: string | null;
};

/** An upstream's settings as RabbitMQ names them; what is empty, 0 or false is left out. */
export const upstreamSettings = (
  uri: string | readonly string[],
  options: UpstreamOptions,
): PlainDict => {
  const uris = [uri].flat().flatMap(each => each.split(/\s+/).filter(Boolean));
  const named = Object.entries<Plain | undefined>({
    uri: uris.length > 1 ? uris : (uris[0] ?? ''),
    'prefetch-count': options.prefetch_count,
    'reconnect-delay': options.reconnect_delay,
    'ack-mode': options.ack_mode,
    'trust-user-id': options.trust_user_id,
    exchange: options.exchange,
    'max-hops': options.max_hops,
    expires: options.expires,
    'message-ttl': options.message_ttl,
    'ha-policy': options.ha_policy,
    queue: options.queue,
  });
  return Object.fromEntries(
    named.filter((pair): pair is [string, NonNullable<Plain>] => Boolean(pair[1])),
  );
};

/** Returns the settings without the passwords in URIs. */
export const withoutPasswords = (settings: PlainDict): PlainDict => {
  const { uri, ...others } = settings;
  if (uri === undefined) return settings;
  return {
    ...others,
    uri: Array.isArray(uri) ? uri.map(one => redactUrl(String(one))) : redactUrl(String(uri)),
  };
};

/** A complaint of RabbitMQ's without the passwords of the URIs that it repeats. */
export const redactUris = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s"]*@/gi, '$1<redacted>@');
