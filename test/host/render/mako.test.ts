import { expect, test } from 'vitest';
import { site } from '../../render/site.ts';

test('functions are called before and behind where they stand, with defaults and filters', async () => {
  const { text } = site({ pillar: { port: 80 } });
  const source = `\${listen("0.0.0.0")}
<%def name="listen(host, port=pillar.port)">listen \${host}:\${port};</%def>\\
<%def name="quiet(word)" filter="trim, h">
  <\${word}>
</%def>\\
<%!
  const shout = word => word.toUpperCase() + '!';
%>\\
\${listen('::', 8080)} \${quiet('a')} \${'now' | shout} \${capture(quiet, 'b') | n}
\${(await listen('x')).length}
`;
  expect(await text(source, 'mako')).toBe(
    'listen 0.0.0.0:80;\nlisten :::8080; &lt;a&gt; NOW! &lt;b&gt;\n12\n',
  );
});

test('a function inside of a function, a loop with its `loop`, while', async () => {
  const { text } = site({ pillar: { l: ['a', 'b', 'c'] } });
  const source = `<%def name="rows(list)">
<%def name="cell(x)">[\${x}]</%def>\\
% for x in list:
\${loop.index}\${cell(x)}\${loop.cycle('odd', 'even')}\${loop.last ? '.' : ','}
% endfor
</%def>\\
<%! let n = 2 %>\\
\${rows(pillar.l)}\\
% while n > 0:
\${n}
<% n -= 1 %>\\
% endwhile
`;
  expect(await text(source, 'mako')).toBe('\n0[a]odd,\n1[b]even,\n2[c]odd.\n2\n1\n');
});

const layout: Readonly<Record<string, string>> = {
  'web/base.mako': `head
<%block name="title">no title</%block>
\${self.body()}
<%block name="foot">foot \${self.owner()}</%block>
<%def name="owner()">nobody</%def>`,
  'web/middle.mako': `<%inherit file="base.mako"/>
<%block name="title">middle(\${parent.title()})</%block>
never printed`,
};

test('inheritance: blocks and functions of the last template win, body and parent are there', async () => {
  const { text } = site({ files: layout });
  const source = `<%inherit file="middle.mako"/>\\
<%def name="owner()">\${grains.os}</%def>\\
<%block name="title">mine \${parent.title()}</%block>\\
content`;
  expect((await text(source, 'mako')).replace(/\n+/g, '\n')).toBe(
    'head\nmine middle(no title)\ncontent\nfoot Debian\n',
  );
});

test('a block prints where it stands, nameless ones through their filter', async () => {
  const { text } = site();
  expect(
    await text('<%block name="a">x</%block>|<%block filter="h">${"<"}<</%block>|', 'mako'),
  ).toBe('x|&lt;&lt;|');
});

test('namespaces: by name, by import, relative to the template or the roots', async () => {
  const { text } = site({
    files: {
      'web/lib.mako': '<%def name="hi(who)">hi ${who} on ${grains.os}</%def>ignored',
      'lib/top.mako':
        '<%def name="bye()">bye</%def><%def name="other()">other</%def><%def name="third()">third</%def>',
    },
  });
  const source = `<%namespace name="lib" file="lib.mako"/>\\
<%namespace file="/lib/top.mako" import="bye"/>\\
<%namespace name="again" file="salt://lib/top.mako" import="other, third"/>\\
\${lib.hi('me')} \${bye()} \${other()} \${again.third()}`;
  expect((await text(source, 'mako')).trim()).toBe('hi me on Debian bye other third');
});

test('a file to include may be computed', async () => {
  const { text } = site({ files: { 'web/Debian.mako': 'deb ${grains.os}' } });
  expect(await text('<%include file="${grains.os + \'.mako\'}"/>', 'mako')).toBe('deb Debian');
});

test.each([
  ['<%call expr="a()">x</%call>', 'the tag <%call> is not supported (web/init.sls:2)'],
  ['<%page args="a"/>', 'the tag <%page> is not supported (web/init.sls:2)'],
  ['<%self:box>x</%self:box>', 'the tag <%self:box> is not supported'],
  ['<%def name="a()" cached="True">x</%def>', "the attribute 'cached' of <%def> is not supported"],
  ['<%include file="x" args="a=1"/>', "the attribute 'args' of <%include> is not supported"],
  ['<%namespace file="x" import="*"/>', '<%namespace> imports by name, not *'],
  ['<%namespace file="x"/>', '<%namespace> needs a name or an import'],
  ['<%namespace file="lib.mako" import="b"/>', "'lib.mako' defines no 'b'"],
  ['<%namespace name="l" module="os"/>', "the attribute 'module' of <%namespace> is not supported"],
  ['<%def name="a">x</%def>', '<%def> needs a name and parameters'],
  ['<%def name="a()">x', '<%def> is not closed: </%def> is missing (web/init.sls:2)'],
  ['</%def>', '</%def> closes no <%def>'],
  ['<%block name="a">\n% if 1:\n</%block>', '</%block> closes no <%block> (web/init.sls:4)'],
  ['<%block name="a">x</%block><%block name="a">y</%block>', "'a' already"],
  ['<%inherit file="none.mako"/>', 'none.mako was not found'],
  ['<%inherit file="loop.mako"/>', 'more than 50 levels deep'],
  ['<%include file="loop.mako"/>', 'more than 50 levels deep'],
  ['<%include file="broken.mako"/>', 'nosuch is not defined (broken.mako:2)'],
  ['a: ${1 | nosuch}', 'nosuch is not defined (web/init.sls:2)'],
  ['<%include/>', "<%include> needs the attribute 'file'"],
])('%j is refused: %s', async (text, expected) => {
  const { failure } = site({
    files: {
      'web/lib.mako': '<%def name="a()">x</%def>',
      'web/loop.mako': '<%inherit file="loop.mako"/><%include file="loop.mako"/>',
      'web/broken.mako': 'fine\n${nosuch}\n',
    },
  });
  expect(await failure(`#!mako|yaml\n${text}\n`)).toContain(expected);
});
