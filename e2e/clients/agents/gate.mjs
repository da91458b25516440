// The only address that an agent is given: it passes requests on to the gateway and notes how they were answered. It is the agent's
// HTTP proxy as well, which refuses every host at once, so that nothing waits for a network that is not there.
import http from 'node:http'

/** Opens it. `answers`: `{ path, status }` of each request, oldest first. `refused`: the hosts that were asked for. */
export async function openGate(gatewayUrl) {
  const gate = { answers: [], refused: new Set() }
  const target = new URL(gatewayUrl)
  const server = http.createServer((req, res) => {
    if (!req.url.startsWith('/')) {
      gate.refused.add(new URL(req.url).host)
      req.resume()
      return res.writeHead(403).end('no network but loopback')
    }
    const headers = { ...req.headers, host: target.host }
    const { hostname, port } = target
    const options = { hostname, port, method: req.method, path: req.url, headers, agent: false }
    const passed = http.request(options, answer => {
      gate.answers.push({ path: req.url, status: answer.statusCode })
      res.writeHead(answer.statusCode, answer.rawHeaders)
      // A cut answer is cut for the agent too, and a client that leaves leaves the gateway.
      answer.on('error', () => res.destroy())
      answer.pipe(res)
    })
    passed.on('error', () => res.destroy())
    res.on('close', () => passed.destroy())
    req.pipe(passed)
  })
  server.on('connect', (req, socket) => {
    gate.refused.add(req.url)
    // Some agents reset the connection.
    socket.on('error', () => socket.destroy())
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  gate.url = `http://127.0.0.1:${server.address().port}`
  gate.close = () =>
    new Promise(resolve => {
      server.close(resolve)
      server.closeAllConnections()
    })
  return gate
}
