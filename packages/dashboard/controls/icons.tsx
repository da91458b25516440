import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const OverviewIcon = () => (
  <Icon>
    <path d="M2 13.5h12M4 11V8M8 11V3M12 11V6" />
  </Icon>
)
export const LogsIcon = () => (
  <Icon>
    <path d="M2.5 4h1M6 4h7.5M2.5 8h1M6 8h7.5M2.5 12h1M6 12h5" />
  </Icon>
)
export const PlaygroundIcon = () => (
  <Icon>
    <path d="M2.5 3.5h11v8H8l-3 2.5v-2.5H2.5z" />
  </Icon>
)
export const KeyIcon = () => (
  <Icon>
    <circle cx="5" cy="10.5" r="2.5" />
    <path d="M7 8.5l6-6M10.5 5l2 2" />
  </Icon>
)
export const ProviderIcon = () => (
  <Icon>
    <path d="M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2" />
  </Icon>
)
export const ClientAuthIcon = () => (
  <Icon>
    <path d="M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4zM5.5 8l2 2 3-3.5" />
  </Icon>
)
export const SettingsIcon = () => (
  <Icon>
    <path d="M2 4.5h6M11 4.5h3M2 11.5h3M8 11.5h6" />
    <circle cx="9.5" cy="4.5" r="1.5" />
    <circle cx="6.5" cy="11.5" r="1.5" />
  </Icon>
)
export const ProjectsIcon = () => (
  <Icon>
    <path d="M2 4.5h4.5l1.5 2h6v6.5H2z" />
  </Icon>
)
export const MembersIcon = () => (
  <Icon>
    <circle cx="6" cy="5.5" r="2.5" />
    <path d="M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.6.6 2.5 1.9 2.5 3.7" />
  </Icon>
)
export const WebhookIcon = () => (
  <Icon>
    <path d="M2 8h8M7 4.5L10.500 8 7 11.500M13.500 3v10" />
  </Icon>
)
export const AuditIcon = () => (
  <Icon>
    <path d="M3.500 2h9v12h-9zM6 5.500h4M6 8h4M6 10.500h2.500" />
  </Icon>
)
export const UsageIcon = () => (
  <Icon>
    <path d="M8 2v12M11 4.5C10 3.5 5 3.2 5 5.7S11 8 11 10.4 6 13 5 11.7" />
  </Icon>
)
export const ModelIcon = () => (
  <Icon>
    <path d="M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6" />
  </Icon>
)
export const LimitIcon = () => (
  <Icon>
    <path d="M2.5 11a5.5 5.5 0 0 1 11 0M8 11l2.5-3.5" />
  </Icon>
)
export const EndUserIcon = () => (
  <Icon>
    <circle cx="8" cy="5" r="2.5" />
    <path d="M3 13.5c.6-3 2.600-4 5-4s4.400 1 5 4" />
  </Icon>
)
export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.5" />
    <path d="M10.5 10.5l3 3" />
  </Icon>
)
export const ChevronIcon = () => (
  <Icon>
    <path d="M4.5 6.5L8 10l3.5-3.5" />
  </Icon>
)

export const Logo = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="var(--accent)" />
    <g fill="var(--on-accent)">
      <rect x="7" y="7" width="3" height="18" rx="1.5" />
      <rect x="12" y="7" width="3" height="13" rx="1.5" />
      <rect x="17" y="7" width="3" height="18" rx="1.5" />
      <rect x="22" y="7" width="3" height="9" rx="1.5" />
    </g>
  </svg>
)
