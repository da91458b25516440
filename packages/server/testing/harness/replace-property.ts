/** Replaces a property of an object. Returns a function that puts the former one back. */
export function replaceProperty<T extends object, K extends keyof T>(
  object: T,
  name: K,
  make: (before: T[K]) => T[K],
): () => void {
  const own = Object.getOwnPropertyDescriptor(object, name)
  const before = object[name]
  Object.defineProperty(object, name, { configurable: true, writable: true, value: make(before) })
  return () => {
    if (own === undefined) Reflect.deleteProperty(object, name)
    else Object.defineProperty(object, name, own)
  }
}
