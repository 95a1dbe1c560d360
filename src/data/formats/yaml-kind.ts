const bool = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;
const int =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const float =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const timestamp =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;
const nothing = /^(?:~|null|Null|NULL|)$/;

const numeric = '-+0123456789.';

/** The longest words that are not text: `false`. */
const longestWord = 5;

type YamlKind = 'bool' | 'float' | 'int' | 'merge' | 'null' | 'str' | 'timestamp' | 'value';

/**
 * Returns the type of a plain scalar by YAML 1.1 as PyYAML reads it: `yes` is a bool, `y` is a
 * string, `1e3` is a string (a float needs a dot), `12:30` is an int of base 60. The names are
 * those of the tags: `bool`, `int`, `float`, `timestamp`, `null`, `merge`, `value`, `str`.
 */
export const yamlKind = (text: string): YamlKind => {
  const first = text.charAt(0);
  if (first !== '' && numeric.includes(first)) {
    if (int.test(text)) return 'int';
    if (float.test(text)) return 'float';
    return timestamp.test(text) ? 'timestamp' : 'str';
  }
  if (text.length > longestWord) return 'str';
  if (text === '<<') return 'merge';
  if (text === '=') return 'value';
  if (nothing.test(text)) return 'null';
  return bool.test(text) ? 'bool' : 'str';
};
