/** A kind of audio file: its media type, and the ending by which providers know it. */
export interface AudioType {
  readonly mediaType: string
  readonly extension: string
}

const MP3: AudioType = { mediaType: 'audio/mpeg', extension: 'mp3' }
const AAC: AudioType = { mediaType: 'audio/aac', extension: 'aac' }

/** Which audio this is, by its first bytes: what a caller calls it may be anything. undefined: none that models hear. */
export function findAudioType(bytes: Buffer): AudioType | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('ID3')) return MP3
  if (head.startsWith('fLaC')) return { mediaType: 'audio/flac', extension: 'flac' }
  if (head.startsWith('OggS')) return { mediaType: 'audio/ogg', extension: 'ogg' }
  if (head.startsWith('RIFF') && head.endsWith('WAVE')) return { mediaType: 'audio/wav', extension: 'wav' }
  if (head.startsWith('\x1aE\xdf\xa3')) return { mediaType: 'audio/webm', extension: 'webm' }
  if (head.slice(4, 8) === 'ftyp') {
    const isM4a = head.startsWith('M4A', 8) || head.startsWith('M4B', 8)
    return { mediaType: 'audio/mp4', extension: isM4a ? 'm4a' : 'mp4' }
  }
  return findFrameType(bytes)
}

/** A file that begins with a frame: eleven bits of ones, then the layer. AAC has no layer. */
function findFrameType(bytes: Buffer): AudioType | undefined {
  const [first = 0, second = 0] = bytes
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined
  const layer = (second >> 1) & 3
  if (layer === 0) return (second & 0xf0) === 0xf0 ? AAC : undefined
  return MP3
}
