import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Connection,
  createConnection,
  type InitializeParams,
  type InitializeResult,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '../protocol/error.ts';
import { DocumentChecker } from './check-document.ts';
import { CheckQueue } from './check-queue.ts';
import { completionDocs, completions } from './features/completion.ts';
import { definitions } from './features/definition.ts';
import { hoverText } from './features/hover.ts';
import { declarationsOf, idAt, referencesTo } from './features/ids.ts';
import type { PositionIn } from './features/position-context.ts';
import { renamedId, renameEdits } from './features/rename.ts';
import { documentSymbols } from './features/symbols.ts';
import { templateTokenTypes } from './text/template-tokens.ts';
import {
  changesOf,
  diagnosticOf,
  rangeOf,
  symbolOf,
  tokenData,
  wireLocation,
} from './wire-forms.ts';
import { type ServedProject, Workspace } from './workspace.ts';

/** Streams of the protocol, and how a project is opened. */
export type ServerOptions = {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /**
   * @param isTrusted false: nothing of the project may be rendered, and its roster is not read
   */
  readonly open: (root: string, isTrusted: boolean) => Promise<ServedProject>;
  readonly isTrusted: boolean;
  readonly version: string;
};

/** Serves one editor until it ends the connection, and then ends the process. */
export const serveEditor = (options: ServerOptions): void => new EditorServer(options).listen();

type At = {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
};

type Opened = { readonly workspace: Workspace; readonly checker: DocumentChecker };

class EditorServer {
  readonly #options: ServerOptions;
  readonly #connection: Connection;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #unsaved = new Map<string, string>();
  readonly #queue = new CheckQueue(uri => this.#check(uri));
  #root = process.cwd();
  #isTrusted: boolean;
  #opened: Promise<Opened> | undefined;
  /** The reason for which the project could not be opened, once it was shown. */
  #shownReason = '';

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#isTrusted = options.isTrusted;
    this.#connection = createConnection(options.input, options.output);
  }

  listen(): void {
    const connection = this.#connection;
    connection.onInitialize(params => this.#initialize(params));
    connection.onShutdown(() => this.#queue.close());
    this.#listenToDocuments();
    this.#answerReading();
    this.#answerNaming();
    this.#documents.listen(connection);
    connection.listen();
  }

  #initialize({
    workspaceFolders,
    rootUri,
    initializationOptions,
  }: InitializeParams): InitializeResult {
    const folder = workspaceFolders?.[0]?.uri ?? rootUri;
    if (folder?.startsWith('file:')) this.#root = fileURLToPath(folder);
    // Places in findings are relative to the working folder.
    process.chdir(this.#root);
    const settings: unknown = initializationOptions;
    if (typeof settings === 'object' && settings !== null && 'render' in settings)
      this.#isTrusted &&= settings.render !== false;
    return {
      capabilities: {
        textDocumentSync: {
          openClose: true,
          change: TextDocumentSyncKind.Incremental,
          save: { includeText: false },
        },
        completionProvider: {
          resolveProvider: true,
          triggerCharacters: ['.', '/', ':', "'", '"', '[', ' ', '-'],
        },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        semanticTokensProvider: {
          legend: { tokenTypes: [...templateTokenTypes], tokenModifiers: [] },
          full: true,
        },
      },
      serverInfo: { name: 'tsalt-ssh', version: this.#options.version },
    };
  }

  #listenToDocuments(): void {
    this.#documents.onDidChangeContent(({ document }) => {
      const path = pathOf(document.uri);
      if (path === undefined) return;
      this.#unsaved.set(path, document.getText());
      this.#queue.add(document.uri);
    });
    this.#documents.onDidClose(({ document }) => {
      const path = pathOf(document.uri);
      if (path !== undefined) this.#unsaved.delete(path);
      this.#queue.remove(document.uri);
      void this.#connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
    });
    this.#documents.onDidSave(({ document }) => this.#refresh([document.uri]));
    this.#connection.onDidChangeWatchedFiles(({ changes }) =>
      this.#refresh(changes.map(({ uri }) => uri)),
    );
  }

  /** Reads again what was read of files, and checks all open documents once more. */
  #refresh(uris: readonly string[]): void {
    const isSetting = uris.some(uri => !/\.(sls|jinja2?|j2|liquid|ts)$/.test(uri));
    if (isSetting) this.#opened = undefined;
    else
      void this.#opened?.then(
        ({ workspace, checker }) => {
          workspace.refresh();
          checker.refresh();
        },
        () => undefined,
      );
    for (const { uri } of this.#documents.all()) this.#queue.add(uri);
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#options.open(this.#root, this.#isTrusted).then(project => ({
      workspace: new Workspace(project.config, path => this.#unsaved.get(path)),
      checker: new DocumentChecker(project, this.#unsaved),
    }));
    return this.#opened;
  }

  async #check(uri: string): Promise<void> {
    const path = pathOf(uri);
    const document = this.#documents.get(uri);
    if (path === undefined || !document) return;
    const { version } = document;
    try {
      const { workspace, checker } = await this.#open();
      this.#shownReason = '';
      const file = workspace.fileAt(path);
      const findings = file ? await checker.check(file) : [];
      // A newer text is checked next.
      if (this.#documents.get(uri)?.version !== version) return;
      const lines = document.getText().split('\n');
      const diagnostics = findings.map(finding => diagnosticOf(finding, lines));
      await this.#connection.sendDiagnostics({ uri, version, diagnostics });
    } catch (error) {
      this.#opened = undefined;
      const reason = messageOf(error);
      if (reason !== this.#shownReason) this.#connection.window.showErrorMessage(reason);
      this.#shownReason = reason;
    }
  }

  /** The document of a request; undefined for files that are not of the project. */
  async #at({ textDocument, position }: At): Promise<(Opened & { at: PositionIn }) | undefined> {
    const path = pathOf(textDocument.uri);
    const text = this.#documents.get(textDocument.uri)?.getText();
    if (path === undefined || text === undefined) return undefined;
    const opened = await this.#open().catch(() => undefined);
    const file = opened?.workspace.fileAt(path);
    return (
      opened && file && { ...opened, at: { file, text, lines: text.split('\n'), ...position } }
    );
  }

  #answerReading(): void {
    const connection = this.#connection;
    connection.onCompletion(async params => {
      const found = await this.#at(params);
      return found ? completions(found.at, found.workspace, found.checker.facts) : [];
    });
    connection.onCompletionResolve(async item => {
      const opened = await this.#open().catch(() => undefined);
      return opened ? completionDocs(item, opened.workspace) : item;
    });
    connection.onHover(async params => {
      const found = await this.#at(params);
      const hover = found && (await hoverText(found.at, found.workspace, found.checker.facts));
      return (
        hover && { contents: { kind: 'markdown', value: hover.text }, range: rangeOf(hover.span) }
      );
    });
    connection.onDocumentSymbol(async ({ textDocument }) => {
      const found = await this.#at({ textDocument, position: start });
      if (!found) return [];
      const { file, lines } = found.at;
      const symbols = documentSymbols(found.workspace.outline(file.path), lines);
      return symbols.map(one => symbolOf(one, lines));
    });
    connection.languages.semanticTokens.on(({ textDocument }) => ({
      data: tokenData(this.#documents.get(textDocument.uri)?.getText() ?? ''),
    }));
  }

  #answerNaming(): void {
    const connection = this.#connection;
    connection.onDefinition(async params => {
      const found = await this.#at(params);
      return found ? (await definitions(found.at, found.workspace)).map(wireLocation) : [];
    });
    connection.onReferences(async params => {
      const found = await this.#at(params);
      if (!found) return [];
      const { file, line, character } = found.at;
      const id = idAt(file, line, character, found.workspace);
      const [target] = id ? declarationsOf(id.id, id.module, file, found.workspace) : [];
      if (!target) return [];
      return referencesTo(target, found.workspace)
        .filter(one => params.context.includeDeclaration || !one.isDeclaration)
        .map(wireLocation);
    });
    connection.onPrepareRename(async params => {
      const found = await this.#at(params);
      return found && asResponse(() => rangeOf(renamedId(found.at, found.workspace).span));
    });
    connection.onRenameRequest(async params => {
      const found = await this.#at(params);
      if (!found) return undefined;
      return asResponse(() => ({
        changes: changesOf(renameEdits(found.at, params.newName, found.workspace)),
      }));
    });
  }
}

const start = { line: 0, character: 0 };

const pathOf = (uri: string): string | undefined =>
  uri.startsWith('file:') ? resolve(fileURLToPath(uri)) : undefined;

/** An error with a reason for the user; editors show it. */
const asResponse = <T>(make: () => T): T | ResponseError => {
  try {
    return make();
  } catch (error) {
    return new ResponseError(-32803, messageOf(error));
  }
};
