// Methods that may be taken from their object, as in `const { step } = ctx`. Each read of a method returns a bound function: code uses
// few of them, and a worker has many contexts, so none is bound in advance.
export function bindMethods(prototype: object): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor' || typeof value !== 'function') continue
    const method = value as (...args: unknown[]) => unknown
    Object.defineProperty(prototype, name, {
      get(this: object) {
        return method.bind(this)
      },
    })
  }
}
