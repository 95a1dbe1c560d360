import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PackageRegistry = {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** Offers a package. `sent` makes of the tarball what goes over the line. */
  readonly publish: (
    name: string,
    version: string,
    tarball: Buffer,
    sent?: (tarball: Buffer) => Buffer,
  ) => string;
  readonly close: () => void;
};

/** A package registry on loopback, for the real npm. */
export const startPackageRegistry = async (): Promise<PackageRegistry> => {
  const documents = new Map<string, object>();
  const tarballs = new Map<string, { length: number; bytes: Buffer }>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    asked.push(path);
    const tarball = tarballs.get(path);
    const document = documents.get(path);
    if (tarball) {
      response.writeHead(200, { 'content-length': tarball.length });
      response.write(tarball.bytes, () => {
        if (tarball.bytes.length < tarball.length) response.destroy();
        else response.end();
      });
    } else if (document) response.end(JSON.stringify(document));
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    publish: (name, version, tarball, sent = bytes => bytes) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const file = `/${name}/-/${name}-${version}.tgz`;
      tarballs.set(file, { length: tarball.length, bytes: sent(tarball) });
      documents.set(`/${name}`, {
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { name, version, dist: { tarball: url + file, integrity } } },
      });
      return integrity;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
