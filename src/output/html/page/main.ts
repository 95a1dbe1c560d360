import { data, hosts, hostWord, severities } from './data.ts';
import { showHost } from './detail.ts';
import { byId, duration, make } from './dom.ts';
import { showGroups } from './groups.ts';
import { openMatrix, showMatrix } from './matrix.ts';

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
  const button = (name: string, count: number, word = name): HTMLElement => {
    const made = make(
      'button',
      { type: 'button', 'data-outcome': name, class: name, 'aria-pressed': 'false' },
      make('b', {}, String(count)),
      ` ${word}`,
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
    if (count === 0) continue;
    list.append(button(name, count, hostWord(name)));
    const part = make('span', { class: name });
    part.style.flexGrow = String(count);
    byId('share').append(part);
  }
};

const head = (): void => {
  byId('title').textContent = data.title;
  document.title = data.title;
  if (data.about) facts(data.about.facts);
  else byId('about').textContent = `${data.started}, ${duration(data.milliseconds)}`;
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
  for (const [at, [label, text]] of (data.about?.commands ?? []).entries())
    command(label, `command-${at}`, text);
};

const facts = (list: readonly (readonly [string, string])[]): void => {
  const shown = byId('facts');
  shown.hidden = false;
  for (const [name, value] of list)
    shown.append(make('div', {}, make('dt', {}, name), make('dd', {}, value)));
};

const start = (): void => {
  head();
  folded.checked = hosts.length > 12;
  filters();
  const select = (id: string, state?: number): void => {
    showHost(id, state);
    if (state === undefined) byId('host-title').focus();
  };
  if (data.about) showGroups(data.about, select);
  openMatrix(select);
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
