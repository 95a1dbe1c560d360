/** Resolves when something has come about; fails after so many milliseconds. */
export const waitFor = async (isSo: () => boolean, most: number): Promise<void> => {
  const end = performance.now() + most;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`not within ${most} ms: ${isSo}`);
    await new Promise(resolve => setTimeout(resolve, 30));
  }
};
