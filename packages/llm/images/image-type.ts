/** Which image this is, by its first bytes: what a host calls it may be anything. undefined: none that models see. */
export function findImageType(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp'
  const brand = head.slice(4, 8) === 'ftyp' ? head.slice(8) : ''
  if (brand === 'heic' || brand === 'heix') return 'image/heic'
  if (brand === 'mif1' || brand === 'msf1') return 'image/heif'
  return brand === 'avif' ? 'image/avif' : undefined
}
