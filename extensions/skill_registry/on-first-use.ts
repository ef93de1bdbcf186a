/**
 * Makes something once, when somebody first asks: most commands never need some parts, and to load them takes as long as to
 * read thousands of skills from the cache.
 */
export function onFirstUse<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
