/** What can stand before the colon of a qualified id. Apart, because the rest of the config loads a library. */
export const SOURCE_ID: RegExp = /^[A-Za-z0-9@][A-Za-z0-9@._/-]*$/;

export function isSourceId(id: string): boolean {
  return SOURCE_ID.test(id);
}
