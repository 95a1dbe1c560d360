import { main } from './cli/cli.ts';

main(process.argv.slice(2), process.env).then(code => {
  process.exitCode = code;
});
