import { expect, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { becomeOf, PasswordPrompt } from '../../../src/transport/become.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { aHost } from '../../helpers/hosts.ts';

const watch = (become: 'sudo' | 'su' | 'doas') => {
  const sent: string[] = [];
  let refused = 0;
  const way = becomeOf(aHost({ become, sudo_passwd: new Secret('s3cret') }), new Secret('s3cret'));
  const prompt = new PasswordPrompt(
    way,
    line => sent.push(line),
    () => refused++,
  );
  return {
    nonce: way.nonce ?? '',
    say: (text: string) => prompt.push(Buffer.from(text)),
    answers: () => ({ sent: sent.length, refused }),
  };
};

test.each([
  'Password: ',
  'Passwort: ',
  'Mot de passe : ',
  '密码：',
  'パスワード: ',
  'doas (a@b) password: ',
])('su and doas ask in any language: %s', text => {
  for (const become of ['su', 'doas'] as const) {
    const { nonce, say, answers } = watch(become);
    say(`Welcome!\nPassword: `);
    expect(answers()).toEqual({ sent: 0, refused: 0 });
    say(`${nonce}\n`);
    for (const letter of text) say(letter);
    expect(answers()).toEqual({ sent: 1, refused: 0 });
    for (const piece of [`\r\n${become}:`, ' ', 'Authentication failure\r\n']) say(piece);
    expect(answers()).toEqual({ sent: 1, refused: 0 });
    say(text);
    expect(answers()).toEqual({ sent: 1, refused: 1 });
  }
});

test('sudo is answered at its own random prompt only, in however many pieces', () => {
  const { nonce, say, answers } = watch('sudo');
  say('[sudo] password for tester: Password: tsalt-');
  expect(answers()).toEqual({ sent: 0, refused: 0 });
  for (const letter of nonce) say(letter);
  expect(answers()).toEqual({ sent: 1, refused: 0 });
  say(`Sorry, try again.\n${nonce}`);
  expect(answers()).toEqual({ sent: 1, refused: 1 });
});

test('a long text without any line end costs no time', () => {
  const { nonce, say, answers } = watch('su');
  say(`${nonce}\n`);
  const begun = cpuTime();
  say('x'.repeat(256 * 1024));
  expect(cpuTime() - begun).toBeLessThan(1000);
  expect(answers()).toEqual({ sent: 0, refused: 0 });
});
