import type { Context, Span, Tracer } from '@opentelemetry/api';
import type { BasicTracerProvider, ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import type { PlainDict } from '../protocol/plain.ts';
import type { JobLoad, Returner } from './returner.ts';

/** Spans that wait to be sent; of more, the rest is left out. */
const mostSpans = 200_000;

/** Milliseconds for one request. */
const longest = 8000;

type HostSpan = { readonly span: Span; readonly context: Context };

/**
 * The returner `otlp`: OpenTelemetry traces over HTTP. A run is a trace: a span for it, one per host,
 * and one per state. Comments and changes are left out: they may hold secrets.
 *
 * @param endpoint the URL for traces; without it the `OTEL_EXPORTER_OTLP_…` variables count
 */
export const otlpReturner = async (
  endpoint: string | undefined,
  headers: PlainDict,
  version: string,
): Promise<Returner> => {
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const api = await import('@opentelemetry/api');
  const inner = new OTLPTraceExporter({
    ...(endpoint === undefined ? {} : { url: endpoint }),
    headers: Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, String(value)]),
    ),
    timeoutMillis: longest,
  });
  let failure: Error | undefined;
  const exporter = {
    export: (spans: ReadableSpan[], done: Parameters<typeof inner.export>[1]) =>
      inner.export(spans, result => {
        if (result.code !== 0) failure ??= result.error ?? new Error('spans were not accepted');
        done(result);
      }),
    forceFlush: () => inner.forceFlush(),
    shutdown: () => inner.shutdown(),
  };
  const provider: BasicTracerProvider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'tsalt-ssh', 'service.version': version }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, { maxQueueSize: mostSpans, maxExportBatchSize: 512 }),
    ],
  });
  const spans = new RunSpans(api, provider.getTracer('tsalt-ssh', version));
  return {
    name: 'otlp',
    begin: async load => spans.begin(load),
    follow: event => spans.follow(event),
    end: async () => {
      spans.end();
      await provider.shutdown();
      if (failure) throw failure;
    },
  };
};

class RunSpans {
  readonly #api: typeof import('@opentelemetry/api');
  readonly #tracer: Tracer;
  readonly #hosts = new Map<string, HostSpan>();
  #run: HostSpan | undefined;
  #jid = '';
  #hasFailed = false;

  constructor(api: typeof import('@opentelemetry/api'), tracer: Tracer) {
    this.#api = api;
    this.#tracer = tracer;
  }

  begin({ jid, fun, tgt }: JobLoad): void {
    this.#jid = jid;
    this.#run = this.#open(fun, this.#api.ROOT_CONTEXT, { 'salt.jid': jid, 'salt.target': tgt });
  }

  follow(event: RunEvent): void {
    if (event.type === 'phase' && event.phase !== 'queued') this.#host(event.host);
    else if (event.type === 'state') this.#state(event);
    else if (event.type === 'host') this.#ended(event.result);
  }

  end(): void {
    for (const { span } of this.#hosts.values()) span.end();
    if (this.#hasFailed) this.#run?.span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    this.#run?.span.end();
  }

  #open(name: string, parent: Context, attributes: Readonly<Record<string, string>>): HostSpan {
    const span = this.#tracer.startSpan(name, { attributes }, parent);
    return { span, context: this.#api.trace.setSpan(parent, span) };
  }

  #host(id: string): HostSpan {
    const known = this.#hosts.get(id);
    if (known) return known;
    const parent = this.#run?.context ?? this.#api.ROOT_CONTEXT;
    const opened = this.#open(`host ${id}`, parent, { 'host.name': id, 'salt.jid': this.#jid });
    this.#hosts.set(id, opened);
    return opened;
  }

  /** Times are those of this machine: clocks of hosts differ. */
  #state({ host, tag, result }: RunEvent & { type: 'state' }): void {
    const [module = '', id = '', , fun = ''] = tag.split('_|-');
    const end = Date.now();
    const took = typeof result.duration === 'number' ? Math.max(0, result.duration) : 0;
    const span = this.#tracer.startSpan(
      `${module}.${fun}`,
      {
        startTime: end - took,
        attributes: {
          'host.name': host,
          'salt.jid': this.#jid,
          'salt.state.id': id,
          'salt.state.sls': result.__sls__ ?? '',
          'salt.state.result': String(result.result),
          'salt.state.changed': Object.keys(result.changes ?? {}).length > 0,
        },
      },
      this.#host(host).context,
    );
    if (result.result === false) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    span.end(end);
  }

  #ended({ id, retcode, failure }: HostResult): void {
    const { span } = this.#host(id);
    span.setAttribute('salt.retcode', retcode);
    if (failure !== undefined || retcode !== 0) {
      this.#hasFailed = true;
      span.setStatus({
        code: this.#api.SpanStatusCode.ERROR,
        ...(failure === undefined ? {} : { message: failure.code }),
      });
    }
    span.end();
    this.#hosts.delete(id);
  }
}
