import { fromIdentityToken, isRideauError, RideauClient } from '@rideau/sdk'

const config = await (await fetch('/config.json')).json()
const find = id => document.getElementById(id)

// Stands for the client of your identity provider. It keeps the user's ID token and gets a fresh one when asked to.
let user = ''
let idToken
async function getIdentityToken({ renew, signal }) {
  if (renew || idToken === undefined) {
    const body = new URLSearchParams({ user })
    const response = await fetch(`${config.identityProviderUrl}/sign-in`, { method: 'POST', body, signal })
    idToken = (await response.json()).id_token
  }
  return idToken
}

const rideau = new RideauClient({
  gatewayUrl: config.gatewayUrl,
  tokenSource: fromIdentityToken({
    publishableKey: config.publishableKey,
    getIdentityToken,
    scopes: ['ai.chat'],
  }),
})

async function send(message) {
  const stream = rideau.streamChat(
    { model: 'sandbox/echo', messages: [{ role: 'user', content: message }] },
    { onResponse: showLimits },
  )
  for await (const chunk of stream) find('answer').append(chunk.choices[0]?.delta.content ?? '')
}

function showLimits({ headers }) {
  const left = ['requests', 'tokens'].map(unit => {
    const count = headers.get(`x-ratelimit-remaining-${unit}`)
    return count === null ? '' : `${count} ${unit} left. `
  })
  find('limits').textContent = left.join('')
}

function toText(error) {
  if (isRideauError(error, 'end_user_blocked')) return 'You were blocked (end_user_blocked).'
  if (isRideauError(error)) return `${error.code}: ${error.message}`
  return String(error)
}

find('sign-in').addEventListener('submit', event => {
  event.preventDefault()
  rideau.signOut()
  user = find('name').value
  idToken = undefined
  find('user').textContent = `Signed in as ${user}.`
  find('chat').hidden = false
})

find('chat').addEventListener('submit', async event => {
  event.preventDefault()
  find('answer').textContent = ''
  find('problem').textContent = ''
  find('send').disabled = true
  try {
    await send(find('message').value)
  } catch (error) {
    find('problem').textContent = toText(error)
  } finally {
    find('send').disabled = false
  }
})
