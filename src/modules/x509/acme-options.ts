/** What `acme.cert` takes, as a function and as a state. */
export type CertOptions = {
  aliases?: string[] | null;
  email?: string | null;
  webroot?: string | boolean | null;
  test_cert?: boolean;
  renew?: boolean | number | string | null;
  keysize?: number | null;
  server?: string | null;
  owner?: string;
  group?: string;
  mode?: string;
  certname?: string | null;
  preferred_challenges?: string | null;
  http_01_port?: number | null;
  http_01_address?: string | null;
  dns_plugin?: string | null;
  dns_plugin_credentials?: string | null;
};
