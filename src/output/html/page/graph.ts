import type { ReportGraph } from '../model.ts';
import { data, outcomeClasses, outcomeNames, type PageResult } from './data.ts';
import { make, makeSvg } from './dom.ts';

type View = { x: number; y: number; width: number; height: number };

/** The requisites of a host's run. Failed states, and what leads from them, are highlighted. */
export const graphOf = (
  graph: ReportGraph,
  results: readonly PageResult[],
  follow: (state: number) => void,
): HTMLElement => {
  const outcomes = new Map(results.map(({ stateAt, outcome }) => [stateAt, outcome]));
  const svg = makeSvg('svg', {
    class: 'graph',
    role: 'group',
    tabindex: 0,
    'aria-label': 'Requisites. Arrow keys move, plus and minus zoom, 0 shows all.',
  });
  svg.append(arrowHeads());
  const isFailed = (node: number): boolean => outcomes.get(graph.nodes[node]?.[0] ?? -1) === 3;
  for (const [from, to, kind, points] of graph.edges) {
    const failed = isFailed(from) && isFailed(to);
    svg.append(
      makeSvg(
        'path',
        {
          class: failed ? 'edge failed' : 'edge',
          d: pathOf(points),
          'marker-end': failed ? 'url(#arrow-failed)' : 'url(#arrow)',
        },
        makeSvg('title', {}, kind),
      ),
    );
  }
  for (const [node, [state, x, y, width]] of graph.nodes.entries()) {
    const [id = '', fun = ''] = data.states[state] ?? [];
    const outcome = outcomes.get(state);
    const needs = graph.edges
      .filter(([from]) => from === node)
      .map(([, to, kind]) => `${kind} ${data.states[graph.nodes[to]?.[0] ?? -1]?.[0] ?? ''}`);
    const name = [
      `${fun} ${id}`,
      outcome === undefined ? 'did not run' : (outcomeNames[outcome] ?? ''),
      ...needs,
    ].join(', ');
    const height = graph.nodeHeight;
    const item = makeSvg(
      'g',
      {
        class: `node ${outcome === undefined ? 'none' : outcomeClasses[outcome]}`,
        role: 'link',
        tabindex: 0,
        'aria-label': name,
        transform: `translate(${x - width / 2} ${y - height / 2})`,
      },
      makeSvg('title', {}, name),
      makeSvg('rect', { width, height, rx: 5 }),
      makeSvg('text', { x: 10, y: height / 2 + 4 }, short(id, Math.floor((width - 20) / 7))),
    );
    item.addEventListener('click', () => follow(state));
    item.addEventListener('keydown', event => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      follow(state);
    });
    svg.append(item);
  }
  return make('div', { class: 'graph-box' }, controls(svg, graph), svg);
};

const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, Math.max(1, length - 1))}…` : text;

const pathOf = (points: readonly number[]): string => {
  let path = '';
  for (let at = 0; at + 1 < points.length; at += 2)
    path += `${at === 0 ? 'M' : 'L'}${points[at]} ${points[at + 1]}`;
  return path;
};

const arrowHeads = (): SVGElement => {
  const head = (id: string): SVGElement =>
    makeSvg(
      'marker',
      {
        id,
        viewBox: '0 0 8 8',
        refX: 8,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: 'auto-start-reverse',
      },
      makeSvg('path', { d: 'M0 0L8 4L0 8z' }),
    );
  return makeSvg('defs', {}, head('arrow'), head('arrow-failed'));
};

/** Buttons, keys, wheel and pointer that move and scale the graph. */
const controls = (svg: SVGSVGElement, graph: ReportGraph): HTMLElement => {
  const whole: View = { x: 0, y: 0, width: graph.width, height: graph.height };
  let view = { ...whole };
  const show = (): void =>
    svg.setAttribute('viewBox', `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (factor: number, x = 0.5, y = 0.5): void => {
    const width = Math.min(whole.width * 2, Math.max(60, view.width * factor));
    const height = (width / view.width) * view.height;
    view = {
      x: view.x + (view.width - width) * x,
      y: view.y + (view.height - height) * y,
      width,
      height,
    };
    show();
  };
  const move = (x: number, y: number): void => {
    view = { ...view, x: view.x + x * view.width, y: view.y + y * view.height };
    show();
  };
  const reset = (): void => {
    view = { ...whole };
    show();
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(-0.1, 0),
    ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, -0.1),
    ArrowDown: () => move(0, 0.1),
    '+': () => zoom(0.8),
    '-': () => zoom(1.25),
    '0': reset,
  };
  svg.addEventListener('keydown', event => {
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  svg.addEventListener(
    'wheel',
    event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width;
      zoom(event.deltaY > 0 ? 1.15 : 0.87, x, (event.clientY - box.top) / box.height);
    },
    { passive: false },
  );
  drag(svg, (x, y) => move(-x, -y));
  show();
  const button = (text: string, label: string, act: () => void): HTMLElement => {
    const made = make('button', { type: 'button', 'aria-label': label, title: label }, text);
    made.addEventListener('click', act);
    return made;
  };
  return make(
    'div',
    { class: 'controls' },
    button('+', 'Zoom in', () => zoom(0.8)),
    button('−', 'Zoom out', () => zoom(1.25)),
    button('⤢', 'Show the whole graph', reset),
  );
};

const drag = (svg: SVGSVGElement, move: (x: number, y: number) => void): void => {
  let from: { x: number; y: number } | undefined;
  svg.addEventListener('pointerdown', event => {
    from = { x: event.clientX, y: event.clientY };
  });
  svg.addEventListener('pointermove', event => {
    if (from === undefined || event.buttons === 0) return;
    const box = svg.getBoundingClientRect();
    move((event.clientX - from.x) / box.width, (event.clientY - from.y) / box.height);
    from = { x: event.clientX, y: event.clientY };
  });
  svg.addEventListener('pointerup', () => {
    from = undefined;
  });
};
