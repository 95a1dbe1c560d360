import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CodeActionKind,
  type Connection,
  createConnection,
  type DidChangeWorkspaceFoldersParams,
  type InitializeParams,
  type InitializeResult,
  type Location,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '../protocol/error.ts';
import { DocumentChecker } from './check-document.ts';
import { CheckQueue } from './check-queue.ts';
import { codeActions, fixAll, type OfferedFix } from './code-actions.ts';
import { completionDocs, completions } from './features/completion.ts';
import { definitions } from './features/definition.ts';
import { hoverText } from './features/hover.ts';
import { declarationsOf, type FileLocation, idAt, referencesTo } from './features/ids.ts';
import type { PositionIn } from './features/position-context.ts';
import { quickFixes } from './features/quick-fixes.ts';
import { renamedId, renameEdits } from './features/rename.ts';
import { signaturesAt } from './features/signature.ts';
import { documentSymbols } from './features/symbols.ts';
import { projectRoot } from './project-root.ts';
import { templateTokenTypes } from './text/template-tokens.ts';
import {
  changesOf,
  diagnosticOf,
  rangeOf,
  type SignatureForms,
  signatureHelpOf,
  symbolOf,
  tokenData,
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
  /**
   * The folders whose code may run: all, none, or those of a list, unless the editor itself says
   * which (`trusted` among its initialization options).
   */
  readonly trust: 'all' | 'none' | ((root: string) => boolean);
  readonly version: string;
};

/** Serves one editor until it ends the connection, and then ends the process. */
export const serveEditor = (options: ServerOptions): void => new EditorServer(options).listen();

type At = {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
};

type Opened = {
  readonly root: string;
  readonly workspace: Workspace;
  readonly checker: DocumentChecker;
};

class EditorServer {
  readonly #options: ServerOptions;
  readonly #connection: Connection;
  readonly #documents = new TextDocuments(TextDocument);
  /** Texts and addresses of open documents by absolute path. */
  readonly #unsaved = new Map<string, string>();
  readonly #uris = new Map<string, string>();
  readonly #queue = new CheckQueue(uri => this.#check(uri));
  /** The folders that the editor has opened. */
  #folders: string[] = [process.cwd()];
  /** Settings of the editor: whether its folders are trusted, and whether anything is rendered. */
  #isTrusted: boolean | undefined;
  #renders = true;
  /** The forms of signatures that the editor reads. */
  #shows: SignatureForms = undefined;
  readonly #projects = new Map<string, { isTrusted: boolean; opened: Promise<Opened> }>();
  /** Folders for which it was shown how to trust them. */
  readonly #shownUntrusted = new Set<string>();
  /** By document: what can be mended in it. */
  readonly #fixes = new Map<string, readonly OfferedFix[]>();
  /** The reason for which the project could not be opened, once it was shown. */
  #shownReason = '';

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#connection = createConnection(options.input, options.output);
  }

  listen(): void {
    const connection = this.#connection;
    connection.onInitialize(params => this.#initialize(params));
    connection.onShutdown(() => this.#queue.close());
    this.#listenToDocuments();
    this.#answerReading();
    this.#answerNaming();
    this.#answerFixing();
    this.#documents.listen(connection);
    connection.listen();
  }

  #initialize({
    workspaceFolders,
    rootUri,
    initializationOptions,
    capabilities,
  }: InitializeParams): InitializeResult {
    const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    const folders = uris.flatMap(uri => pathOf(uri) ?? []);
    if (folders.length > 0) this.#folders = folders;
    // Places in findings are relative to the working folder.
    process.chdir(this.#folders[0] ?? '.');
    this.#shows = capabilities.textDocument?.signatureHelp?.signatureInformation;
    const settings: unknown = initializationOptions;
    const { render, trusted } = (settings ?? {}) as { render?: unknown; trusted?: unknown };
    this.#renders = render !== false;
    this.#isTrusted = typeof trusted === 'boolean' ? trusted : undefined;
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
        signatureHelpProvider: { triggerCharacters: ['(', ',', '=', ':'] },
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, fixAll] },
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
        semanticTokensProvider: {
          legend: { tokenTypes: [...templateTokenTypes], tokenModifiers: [] },
          full: true,
        },
      },
      serverInfo: { name: 'tsalt-ssh', version: this.#options.version },
    };
  }

  #listenToDocuments(): void {
    this.#documents.onDidOpen(({ document: { uri } }) => {
      const path = pathOf(uri);
      if (path !== undefined) this.#uris.set(path, uri);
    });
    this.#documents.onDidChangeContent(({ document }) => {
      const path = pathOf(document.uri);
      if (path === undefined) return;
      const isNew = !this.#unsaved.has(path) && !existsSync(path);
      this.#unsaved.set(path, document.getText());
      // Other documents may name the new file.
      if (isNew) this.#refresh([document.uri]);
      this.#queue.add(document.uri);
    });
    this.#documents.onDidClose(({ document: { uri } }) => {
      const path = pathOf(uri);
      // Some editors open what they have saved by another address first.
      if (path !== undefined && this.#uris.get(path) === uri) {
        this.#uris.delete(path);
        this.#unsaved.delete(path);
        if (!existsSync(path)) this.#refresh([uri]);
      }
      this.#queue.remove(uri);
      this.#fixes.delete(uri);
      void this.#connection.sendDiagnostics({ uri, diagnostics: [] });
    });
    this.#documents.onDidSave(({ document }) => this.#refresh([document.uri]));
    this.#connection.onNotification(
      'workspace/didChangeWorkspaceFolders',
      ({ event: { added, removed } }: DidChangeWorkspaceFoldersParams) => {
        const gone = new Set(removed.map(({ uri }) => pathOf(uri)));
        const kept = this.#folders.filter(folder => !gone.has(folder));
        this.#folders = [...new Set([...kept, ...added.flatMap(({ uri }) => pathOf(uri) ?? [])])];
        this.#projects.clear();
        for (const { uri } of this.#documents.all()) this.#queue.add(uri);
      },
    );
    this.#connection.onDidChangeWatchedFiles(({ changes }) =>
      this.#refresh(changes.map(({ uri }) => uri)),
    );
  }

  /** Reads again what was read of files, and checks all open documents once more. */
  #refresh(uris: readonly string[]): void {
    const isSetting = uris.some(uri => !/\.(sls|jinja2?|j2|liquid|ts)$/.test(uri));
    if (isSetting) this.#projects.clear();
    else
      for (const { opened } of this.#projects.values())
        void opened.then(
          ({ workspace, checker }) => {
            workspace.refresh();
            checker.refresh();
          },
          () => undefined,
        );
    for (const { uri } of this.#documents.all()) this.#queue.add(uri);
  }

  #open(path: string): Promise<Opened> {
    return this.#openRoot(projectRoot(path, this.#folders));
  }

  #openRoot(root: string): Promise<Opened> {
    const known = this.#projects.get(root);
    const isTrusted = this.#renders && this.#mayRun(root);
    if (known?.isTrusted === isTrusted) return known.opened;
    const opened = this.#options.open(root, isTrusted).then(project => ({
      root,
      workspace: new Workspace(project, this.#unsaved),
      checker: new DocumentChecker(project, this.#unsaved),
    }));
    this.#projects.set(root, { isTrusted, opened });
    return opened;
  }

  /** Whether the code of a folder may run. Where nobody has decided, it is shown how to. */
  #mayRun(root: string): boolean {
    const { trust } = this.#options;
    if (typeof trust === 'string') return trust === 'all' && this.#isTrusted !== false;
    if (this.#isTrusted !== undefined) return this.#isTrusted;
    if (trust(root)) return true;
    if (!this.#shownUntrusted.has(root))
      this.#show(
        messageType.warning,
        `${root} is not trusted: its templates are not rendered and its programs do not run, so few errors are found. If you trust this code, run: tsalt-ssh lsp trust ${root}`,
      );
    this.#shownUntrusted.add(root);
    return false;
  }

  async #check(uri: string): Promise<void> {
    const path = pathOf(uri);
    const document = this.#documents.get(uri);
    if (path === undefined || !document) return;
    const { version } = document;
    try {
      const { workspace, checker } = await this.#open(path);
      this.#shownReason = '';
      const file = workspace.fileAt(path);
      const findings = file ? await checker.check(file) : [];
      // A newer text is checked next.
      if (this.#documents.get(uri)?.version !== version) return;
      const lines = document.getText().split('\n');
      const diagnostics = findings.map(finding => diagnosticOf(finding, lines));
      this.#fixes.set(
        uri,
        findings.flatMap((finding, at) => {
          const diagnostic = diagnostics[at];
          return diagnostic ? quickFixes(finding, lines).map(fix => ({ fix, diagnostic })) : [];
        }),
      );
      await this.#connection.sendDiagnostics({ uri, version, diagnostics });
    } catch (error) {
      this.#projects.delete(projectRoot(path, this.#folders));
      const reason = messageOf(error);
      if (reason !== this.#shownReason) this.#show(messageType.error, reason);
      this.#shownReason = reason;
    }
  }

  readonly #uriOf = (path: string): string => this.#uris.get(path) ?? pathToFileURL(path).href;

  readonly #location = ({ path, span }: FileLocation): Location => ({
    uri: this.#uriOf(path),
    range: rangeOf(span),
  });

  /** Shows a message. A notification: editors need not answer it. */
  #show(type: number, message: string): void {
    void this.#connection.sendNotification('window/showMessage', { type, message });
  }

  /** The document of a request; undefined for files that are not of the project. */
  async #at({ textDocument, position }: At): Promise<(Opened & { at: PositionIn }) | undefined> {
    const path = pathOf(textDocument.uri);
    const text = this.#documents.get(textDocument.uri)?.getText();
    if (path === undefined || text === undefined) return undefined;
    const opened = await this.#open(path).catch(() => undefined);
    const file = opened?.workspace.fileAt(path);
    return (
      opened && file && { ...opened, at: { file, text, lines: text.split('\n'), ...position } }
    );
  }

  #answerReading(): void {
    const connection = this.#connection;
    connection.onCompletion(async params => {
      const found = await this.#at(params);
      if (!found) return [];
      const { at, workspace, checker, root } = found;
      const items = await completions(at, workspace, checker.facts);
      return items.map(({ data, ...item }) => (data ? { ...item, data: { ...data, root } } : item));
    });
    connection.onCompletionResolve(async item => {
      const root: unknown = item.data?.root;
      if (typeof root !== 'string') return item;
      const opened = await this.#projects.get(root)?.opened.catch(() => undefined);
      return opened ? completionDocs(item, opened.workspace) : item;
    });
    connection.onHover(async params => {
      const found = await this.#at(params);
      const hover = found && (await hoverText(found.at, found.workspace, found.checker.facts));
      return (
        hover && { contents: { kind: 'markdown', value: hover.text }, range: rangeOf(hover.span) }
      );
    });
    connection.onSignatureHelp(async params => {
      const found = await this.#at(params);
      const shown = found ? await signaturesAt(found.at, found.workspace) : [];
      return signatureHelpOf(shown, this.#shows, params.context?.activeSignatureHelp);
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
      return found ? (await definitions(found.at, found.workspace)).map(this.#location) : [];
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
        .map(this.#location);
    });
    connection.onPrepareRename(async params => {
      const found = await this.#at(params);
      return found && asResponse(() => rangeOf(renamedId(found.at, found.workspace).span));
    });
    connection.onRenameRequest(async params => {
      const found = await this.#at(params);
      if (!found) return undefined;
      return asResponse(() => ({
        changes: changesOf(renameEdits(found.at, params.newName, found.workspace), this.#uriOf),
      }));
    });
  }

  #answerFixing(): void {
    this.#connection.onCodeAction(params =>
      codeActions(this.#fixes.get(params.textDocument.uri) ?? [], params),
    );
  }
}

/** Numbers of the protocol. */
const messageType = { error: 1, warning: 2 } as const;

const start = { line: 0, character: 0 };

/** The path of a document; VS Code has new files as `untitled:/path`. */
const pathOf = (uri: string): string | undefined => {
  const path = /^(?:file:|untitled:(?=\/))(.*)$/.exec(uri)?.[1];
  return path === undefined ? undefined : resolve(fileURLToPath(`file:${path}`));
};

/** An error with a reason for the user; editors show it. */
const asResponse = <T>(make: () => T): T | ResponseError => {
  try {
    return make();
  } catch (error) {
    return new ResponseError(-32803, messageOf(error));
  }
};
