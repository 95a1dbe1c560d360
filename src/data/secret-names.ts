/** Names of arguments and pillar keys whose values are secrets. */
const secretName =
  /(^|_)(password|passwd|passphrase|secret|token|api_?key|private_key|access_key|secret_key)$/i;

/** Whether a value of this name is a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);
