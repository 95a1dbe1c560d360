import { data, hosts } from './data.ts';
import { showHost } from './detail.ts';
import { byId, duration, make } from './dom.ts';
import { openMatrix, showMatrix } from './matrix.ts';

const severities = ['unreachable', 'failed', 'skipped', 'changed', 'ok'] as const;

let outcome = 'all';

const search = byId('search') as HTMLInputElement;
const folded = byId('folded') as HTMLInputElement;

const update = (): void => {
  const count = showMatrix({ outcome, text: search.value, folded: folded.checked });
  byId('shown').textContent = `${count} of ${hosts.length} hosts`;
  for (const button of byId('outcomes').querySelectorAll('button'))
    button.setAttribute('aria-pressed', String(button.dataset.outcome === outcome));
};

const filters = (): void => {
  const list = byId('outcomes');
  const button = (name: string, count: number): HTMLElement => {
    const made = make(
      'button',
      { type: 'button', 'data-outcome': name, class: name, 'aria-pressed': 'false' },
      `${count} ${name}`,
    );
    made.addEventListener('click', () => {
      outcome = name;
      update();
    });
    return made;
  };
  list.append(button('all', hosts.length));
  for (const name of severities) {
    const count = hosts.filter(host => host.outcome === name).length;
    if (count > 0) list.append(button(name, count));
  }
};

const head = (): void => {
  byId('title').textContent = data.title;
  byId('about').textContent = `${data.started}, ${duration(data.milliseconds)}`;
  for (const note of data.notes) byId('notes').append(make('p', { class: 'note' }, note));
  if (data.error !== undefined) byId('notes').append(make('pre', { class: 'failure' }, data.error));
  const commands = byId('commands');
  const command = (label: string, id: string, text: string | undefined): void => {
    if (text === undefined) return;
    const code = make('code', { id, tabindex: 0 }, text);
    const copy = make('button', { type: 'button', 'aria-label': `Copy: ${label}` }, 'Copy');
    copy.addEventListener('click', () => {
      getSelection()?.selectAllChildren(code);
      navigator.clipboard?.writeText(text).catch(() => undefined);
    });
    commands.append(make('dt', {}, label), make('dd', {}, make('pre', {}, code), copy));
  };
  command('Run again', 'command', data.command);
  command('Run again where it failed', 'rerun', data.rerun);
};

const start = (): void => {
  head();
  folded.checked = hosts.length > 12;
  filters();
  openMatrix((id, state) => {
    showHost(id, state);
    if (state === undefined) byId('host-title').focus();
  });
  search.addEventListener('input', update);
  folded.addEventListener('change', update);
  update();
  const first = severities
    .map(severity => hosts.find(host => host.outcome === severity))
    .find(host => host !== undefined);
  if (first) showHost(first.id);
  // Paper has no buttons: it shows what is closed on the screen.
  addEventListener('beforeprint', () => {
    for (const row of document.querySelectorAll<HTMLDetailsElement>('details.result:not([hidden])'))
      row.open = true;
  });
};

start();
