/** Gets an address with a credential. The body is any JSON, which each test knows. */
export async function getJson(url: string, key: string): Promise<{ status: number; body: any }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}
