import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import {
  type ClientCapabilities,
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { packageRoot } from './cli.ts';
import { removeFolder } from './remove-folder.ts';

type AtEnd = (clean: () => void) => void;

/** Writes a project; the folder is removed after the test. */
export const lspProject = (
  files: Readonly<Record<string, string>>,
  atEnd: AtEnd = onTestFinished,
): string => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'lsp-')));
  atEnd(() => removeFolder(dir));
  const base = { 'tsalt.yaml': 'cachedir: cache\nrenderer: jinja|yaml\n' };
  for (const [path, text] of Object.entries({ ...base, ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
};

/** An editor that has opened a project. */
export type LspEditor = {
  readonly connection: ProtocolConnection;
  readonly child: ChildProcess;
  readonly server: InitializeResult;
  readonly uri: (path: string) => string;
  readonly open: (path: string, text: string) => Promise<void>;
  /** Replaces the whole text. */
  readonly type: (path: string, text: string) => Promise<void>;
  /** The next diagnostics of a file for its newest text. */
  readonly diagnostics: (path: string) => Promise<readonly Diagnostic[]>;
  /** How often diagnostics were sent for a file. */
  readonly count: (path: string) => number;
  /** The messages that were shown to the user. */
  readonly messages: readonly string[];
  /** Closes a file without saving it. */
  readonly close: (path: string) => Promise<void>;
  readonly exit: () => Promise<number | null>;
};

/** Starts `tsalt-ssh lsp` in a folder, and speaks to it as an editor, which trusts the folder. */
export const startEditor = async (
  dir: string,
  {
    args = [],
    options = { trusted: true },
    env = {},
    atEnd = onTestFinished,
    folders = [dir],
    capabilities = {},
  }: {
    args?: readonly string[];
    options?: object;
    env?: Readonly<Record<string, string>>;
    atEnd?: AtEnd;
    folders?: readonly string[];
    capabilities?: ClientCapabilities;
  } = {},
): Promise<LspEditor> => {
  const child = spawn(
    process.execPath,
    [`${packageRoot}dist/tsalt-ssh.cjs`, 'lsp', '--stdio', ...args],
    { cwd: tmpdir(), stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  );
  atEnd(() => void child.kill('SIGKILL'));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  atEnd(() => connection.dispose());
  const uri = (path: string): string =>
    /^(file|untitled):/.test(path) ? path : pathToFileURL(join(dir, path)).href;
  const versions = new Map<string, number>();
  const published = new Map<string, { version: number | undefined; list: Diagnostic[] }>();
  const counts = new Map<string, number>();
  let wake: () => void = () => undefined;
  connection.onNotification('textDocument/publishDiagnostics', message => {
    published.set(message.uri, { version: message.version, list: message.diagnostics });
    counts.set(message.uri, (counts.get(message.uri) ?? 0) + 1);
    wake();
  });
  const messages: string[] = [];
  connection.onNotification('window/showMessage', ({ message }: { message: string }) => {
    messages.push(message);
  });
  connection.listen();
  const server = await connection.sendRequest<InitializeResult>('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(dir).href,
    workspaceFolders: folders.map(one => ({ uri: pathToFileURL(one).href, name: 'project' })),
    capabilities,
    initializationOptions: options,
  });
  await connection.sendNotification('initialized', {});
  return {
    connection,
    child,
    server,
    uri,
    open: (path, text) => {
      published.delete(uri(path));
      versions.set(path, 1);
      const textDocument = { uri: uri(path), languageId: 'sls', version: 1, text };
      return connection.sendNotification('textDocument/didOpen', { textDocument });
    },
    close: async path => {
      if (!versions.delete(path)) return;
      const textDocument = { uri: uri(path) };
      await connection.sendNotification('textDocument/didClose', { textDocument });
    },
    type: (path, text) => {
      const version = (versions.get(path) ?? 0) + 1;
      versions.set(path, version);
      return connection.sendNotification('textDocument/didChange', {
        textDocument: { uri: uri(path), version },
        contentChanges: [{ text }],
      });
    },
    diagnostics: async path => {
      const isCurrent = (): boolean => published.get(uri(path))?.version === versions.get(path);
      while (!isCurrent())
        await new Promise<void>(done => {
          wake = done;
        });
      return published.get(uri(path))?.list ?? [];
    },
    messages,
    count: path => counts.get(uri(path)) ?? 0,
    exit: async () => {
      const closed = new Promise<number | null>(done => child.once('close', done));
      await connection.sendRequest('shutdown');
      await connection.sendNotification('exit');
      return closed;
    },
  };
};
