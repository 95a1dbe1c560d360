// A session of the library: runs the function of each line of stdin, and writes a line when it is done.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { LIBRARY, OPTIONS } = process.env;
const { connect } = await import(pathToFileURL(LIBRARY).href);

const session = await connect(JSON.parse(OPTIONS));
for await (const line of createInterface({ input: process.stdin })) {
  const [fun, ...args] = line.split(' ');
  const [result] = await session.run({ fun, args }).results();
  if (result?.retcode !== 0) throw new Error(`${line} failed: ${JSON.stringify(result)}`);
  process.stdout.write('done\n');
}
session.close();
