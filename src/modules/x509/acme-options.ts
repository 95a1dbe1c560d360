/** The options of `acme.cert`, the function and the state. */
export type CertOptions = {
  /** further names */
  aliases?: string[] | null;
  /** where the authority writes to */
  email?: string | null;
  /** a folder of the web server; `true` for certbot's own choice; else certbot listens itself */
  webroot?: string | boolean | null;
  /** use the authority's staging service */
  test_cert?: boolean;
  /** `true` or `force`, or the days before its end from which it is renewed */
  renew?: boolean | number | string | null;
  /** bits of an RSA key */
  keysize?: number | null;
  /** the authority's address */
  server?: string | null;
  /** owner of the private key */
  owner?: string;
  /** group of the private key */
  group?: string;
  /** mode of the private key */
  mode?: string;
  /** the name certbot keeps it by */
  certname?: string | null;
  /** with commas between */
  preferred_challenges?: string | null;
  /** where certbot listens */
  http_01_port?: number | null;
  /** where certbot listens */
  http_01_address?: string | null;
  /** cloudflare or digitalocean */
  dns_plugin?: string | null;
  /** its file */
  dns_plugin_credentials?: string | null;
};
