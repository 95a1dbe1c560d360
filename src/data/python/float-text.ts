/** Formats a float as Python's `repr` does: `1.0`, `1e+16`, `1e-05`, `inf`, `nan`. */
export const floatText = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -4) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const text = String(value);
  if (text.includes('e')) return value.toFixed(Math.max(0, mantissa.length - 2 - exponent));
  return text.includes('.') ? text : `${text}.0`;
};
