import { main } from './cli/cli.ts';

void main(process.argv.slice(2), process.env).then(code => {
  process.exitCode = code;
});
