import { createContext, useContext, useSyncExternalStore } from 'react'

/** A store of whether a call found that the session has ended. */
export class SignedOut {
  #isSet = false
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (): boolean => this.#isSet

  set(isSet: boolean): void {
    this.#isSet = isSet
    for (const listener of this.#listeners) listener()
  }
}

export const SignedOutContext = createContext(new SignedOut())

export function useIsSignedOut(): boolean {
  const signedOut = useContext(SignedOutContext)
  return useSyncExternalStore(signedOut.subscribe, signedOut.get)
}
