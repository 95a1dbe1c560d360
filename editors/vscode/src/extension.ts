import { commands, type ExtensionContext, workspace } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

/** Starts `tsalt-ssh lsp` for the folder. */
const start = async (): Promise<void> => {
  const settings = workspace.getConfiguration('tsalt-ssh');
  client = new LanguageClient(
    'tsalt-ssh',
    { command: settings.get('path', 'tsalt-ssh'), args: ['lsp'] },
    {
      documentSelector: [
        { scheme: 'file', language: 'sls' },
        // A file that `code PATH` opens before it exists.
        { scheme: 'untitled', language: 'sls' },
        { scheme: 'file', pattern: '**/{tsalt,roster}.{yaml,yml}' },
        { scheme: 'file', pattern: '**/{Saltfile,roster}' },
      ],
      // Templates of a folder are only rendered once the user trusts it.
      initializationOptions: {
        trusted: workspace.isTrusted,
        render: settings.get('render', true),
      },
      synchronize: {
        fileEvents: workspace.createFileSystemWatcher('**/*.{sls,jinja,jinja2,j2,liquid,ts,yaml}'),
      },
    },
  );
  await client.start();
};

const stop = async (): Promise<void> => {
  const running = client;
  client = undefined;
  await running?.dispose();
};

const restart = async (): Promise<void> => {
  await stop();
  await start();
};

/** VS Code calls it when the first SLS is opened. */
export const activate = async (context: ExtensionContext): Promise<void> => {
  context.subscriptions.push(
    commands.registerCommand('tsalt-ssh.restart', restart),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration('tsalt-ssh')) void restart();
    }),
  );
  await start();
};

/** VS Code calls it at its end. */
export const deactivate = stop;
