export const DEVICE_PLATFORMS = ['ios', 'android'] as const
export type DevicePlatform = (typeof DEVICE_PLATFORMS)[number]

/** Which apps of a project may get client tokens for the devices that they run on. */
export interface DeviceAuth {
  /** null: no app on iOS. */
  readonly ios: {
    /** Each `<team id>.<bundle id>`. */
    readonly appIds: readonly string[]
    readonly environment: 'production' | 'development'
  } | null
  /** null: no app on Android. */
  readonly android: {
    readonly packageNames: readonly string[]
    /** SHA-256 of the apps' signing certificates, in lower-case hex. */
    readonly signingDigests: readonly string[]
  } | null
}
