import type { Page, Request, Route } from 'playwright-core'

/** How often in a row the page must be idle without a new request. */
const IDLE_TIMES = 8

export interface Rounds {
  readonly calls: readonly (readonly string[])[]
  /** Scripts and styles that were asked for only after the first answer. */
  readonly lateFiles: readonly string[]
}

/**
 * Opens the address and returns its calls of the API in rounds, each as `GET /v1/...`. Calls wait until the page is idle and
 * are then answered together. The number of rounds is how often a slow network delays the page.
 */
export async function countRounds(page: Page, url: string): Promise<Rounds> {
  let held: Route[] = []
  const loading = new Set<Request>()
  const rounds: string[][] = []
  const lateFiles: string[] = []
  const isCall = (address: URL): boolean => address.pathname.includes('/v1/')
  let noteCall: () => void = () => {}
  // Every page begins with a call. A busy machine may be idle for a moment before it.
  const firstCall = new Promise<void>(resolve => {
    noteCall = resolve
  })
  const onCall = (route: Route): void => {
    held.push(route)
    noteCall()
  }
  const onRequest = (request: Request): void => {
    const address = new URL(request.url())
    if (isCall(address)) return
    loading.add(request)
    if (rounds.length > 0) lateFiles.push(address.pathname)
  }
  const onEnd = (request: Request): void => void loading.delete(request)
  const isIdle = async (): Promise<boolean> => {
    const before = held.length
    await page.evaluate('new Promise(done => requestIdleCallback(() => setTimeout(done)))')
    return loading.size === 0 && held.length === before
  }
  const settle = async (): Promise<void> => {
    for (let times = 0; times < IDLE_TIMES; ) times = (await isIdle()) ? times + 1 : 0
  }
  page.on('request', onRequest)
  page.on('requestfinished', onEnd)
  page.on('requestfailed', onEnd)
  await page.route(isCall, onCall)
  try {
    await page.goto(url)
    await firstCall
    await settle()
    while (held.length > 0) {
      const round = held
      held = []
      rounds.push(round.map(route => toCall(route.request())))
      await Promise.all(round.map(answer))
      await settle()
    }
    return { calls: rounds, lateFiles }
  } finally {
    await page.unroute(isCall, onCall)
    page.off('request', onRequest)
    page.off('requestfinished', onEnd)
    page.off('requestfailed', onEnd)
  }
}

async function answer(route: Route): Promise<void> {
  await route.continue()
  const response = await route.request().response()
  await response?.finished()
}

function toCall(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname.replace(/[0-9a-f-]{36}/g, ':id')}`
}
