/** The native format's errors have the shape that several formats share. */
export { type ErrorEnvelope, toEnvelope } from '../../shared/error-envelope.ts'
