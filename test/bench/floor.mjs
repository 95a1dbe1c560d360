// The floor: one Node process with ssh2 and TCP_NODELAY, one script without dependencies on stdin.
// Several hosts are one sshd: `%` in SCRIPT is the number of the host.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import ssh2 from 'ssh2';

const { PORT, KEY, SCRIPT, LOGIN, HOSTS = '1', AT_ONCE = '20' } = process.env;
const privateKey = readFileSync(KEY);
let next = 1;

const runNext = () => {
  if (next > Number(HOSTS)) return;
  const script = SCRIPT.replace('%', String(next));
  next += 1;
  const client = new ssh2.Client();
  const sock = net.connect({ port: Number(PORT), host: '127.0.0.1', noDelay: true });
  client.on('ready', () =>
    client.exec('node -', (error, channel) => {
      if (error) throw error;
      channel.on('close', code => {
        client.end();
        process.exitCode ||= code;
        runNext();
      });
      channel.pipe(process.stdout, { end: false });
      channel.stderr.pipe(process.stderr, { end: false });
      channel.end(readFileSync(script));
    }),
  );
  client.connect({ sock, username: LOGIN, privateKey, hostVerifier: () => true });
};
for (let started = 0; started < Number(AT_ONCE); started += 1) runNext();
