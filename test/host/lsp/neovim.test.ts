import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { lspProject } from '../../helpers/lsp-client.ts';

/** The block for `init.lua` in the guide. */
const guide = /```lua\n([\s\S]*?)```/.exec(
  readFileSync(`${packageRoot}docs/guides/editors.md`, 'utf8'),
)?.[1];

const script = `
local function wait(what, test)
  if not vim.wait(20000, test, 50) then error('no ' .. what) end
end
local result = {}
local ok, reason = pcall(function()
  vim.cmd('edit states/web.sls')
  wait('client', function() return next(vim.lsp.buf_get_clients(0)) ~= nil end)
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  result.first = vim.diagnostic.get(0)[1].message
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { '  pkg.installed: []' })
  wait('end of diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
  local function ask(method, line, character, more)
    local params = vim.tbl_extend('force', {
      textDocument = vim.lsp.util.make_text_document_params(0),
      position = { line = line, character = character },
    }, more or {})
    local all = vim.lsp.buf_request_sync(0, method, params, 20000)
    for _, one in pairs(all) do return one.result end
  end
  result.hover = ask('textDocument/hover', 1, 4).contents.value
  local edits = ask('textDocument/rename', 0, 1, { newName = 'curl' })
  vim.lsp.util.apply_workspace_edit(edits, 'utf-16')
  result.renamed = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'b:', '  file.mana' })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 10 })
  local items = ask('textDocument/completion', vim.api.nvim_buf_line_count(0) - 1, 11)
  result.completed = items[1].label
end)
if not ok then result.error = tostring(reason) end
vim.fn.writefile({ vim.fn.json_encode(result) }, 'result.json')
vim.cmd('qall!')
`;

test('lsp: serves Neovim set up as the guide says', { tags: 'slow', timeout: 60_000 }, async () => {
  const dir = lspProject({
    'roster.yaml': 'web1: 192.0.2.1\n',
    'states/top.sls': "base: {'*': [web]}\n",
    'states/web.sls': 'jq:\n  pkg.instaled: []\na:\n  test.nop:\n    - require:\n      - pkg: jq\n',
    'init.lua': `${guide}\n${script}`,
    'bin/tsalt-ssh': `#!/bin/sh\nexec '${process.execPath}' '${packageRoot}dist/tsalt-ssh.cjs' "$@"\n`,
  });
  chmodSync(join(dir, 'bin/tsalt-ssh'), 0o755);
  writeFileSync(join(dir, 'empty.vim'), '');
  const env = {
    ...process.env,
    HOME: `${dir}/home`,
    PATH: `${dir}/bin:${process.env.PATH}`,
    XDG_STATE_HOME: `${dir}/state`,
    XDG_CACHE_HOME: `${dir}/xdg-cache`,
    XDG_DATA_HOME: `${dir}/data`,
    XDG_CONFIG_HOME: `${dir}/config`,
  };
  await promisify(execFile)(join(dir, 'bin/tsalt-ssh'), ['lsp', 'trust', dir], { cwd: dir, env });
  const args = ['--headless', '--clean', '-u', 'empty.vim', '-c', 'luafile init.lua'];
  await promisify(execFile)('nvim', args, { cwd: dir, env, timeout: 50_000 });
  const result = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'));

  expect(result.error).toBeUndefined();
  expect(result.first).toContain("did you mean 'pkg.installed'");
  expect(result.hover).toContain('**pkg.installed**');
  expect(result.renamed).toEqual([
    'curl:',
    '  pkg.installed:',
    ...['    - name: jq', 'a:', '  test.nop:', '    - require:', '      - pkg: curl'],
  ]);
  expect(result.completed).toBe('file.managed');
});
