// The floor: one Node process with ssh2 and TCP_NODELAY, one script without dependencies on stdin.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import ssh2 from 'ssh2';

const { PORT, KEY, SCRIPT, LOGIN } = process.env;
const client = new ssh2.Client();
const sock = net.connect({ port: Number(PORT), host: '127.0.0.1', noDelay: true });
client.on('ready', () =>
  client.exec('node -', (error, channel) => {
    if (error) throw error;
    channel.on('close', code => {
      client.end();
      process.exitCode = code;
    });
    channel.pipe(process.stdout, { end: false });
    channel.stderr.pipe(process.stderr, { end: false });
    channel.end(readFileSync(SCRIPT));
  }),
);
client.connect({ sock, username: LOGIN, privateKey: readFileSync(KEY), hostVerifier: () => true });
