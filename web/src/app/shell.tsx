/** The frame: navigation, command palette, connection, theme, session. */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { LogOut, Monitor, Moon, Search as SearchIcon, Sun } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useLive } from '../data/events.js';
import { integer } from '../data/format.js';
import { IconButton } from '../ui/button.js';
import { Toasts } from '../ui/toast.js';
import { Mark } from './mark.js';
import { Palette } from './palette.js';
import { useSession } from './session.js';
import { Shortcuts } from './shortcuts.js';
import { chooseTheme, storedTheme, type Theme } from './theme.js';
import { navigation } from './views.js';

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function useShortcuts(open: (what: 'palette' | 'help') => void): void {
  const navigate = useNavigate();
  const afterG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
      if (event.key === '/') {
        event.preventDefault();
        open('palette');
      } else if (event.key === '?') open('help');
      else if (event.key === 'g') afterG.current = event.timeStamp;
      else if (event.timeStamp - afterG.current < 1500) {
        afterG.current = 0;
        const entry = navigation.find(({ key }) => key === event.key);
        if (entry) void navigate({ to: entry.path });
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate, open]);
}

const themes: readonly Theme[] = ['system', 'light', 'dark'];
const themeIcons = { system: <Monitor />, light: <Sun />, dark: <Moon /> };

function ThemeButton(): ReactNode {
  const [theme, setTheme] = useState(storedTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  const change = () => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={change}>
      {themeIcons[theme]}
    </IconButton>
  );
}

function Connection(): ReactNode {
  const { state, count } = useLive();
  const text = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting' }[state];
  const color = { connecting: 'var(--warn)', live: 'var(--good)', lost: 'var(--bad)' }[state];
  return (
    <Link to="/live" className="live-dot" title={`${text}: ${integer(count)} events since this page was opened`}>
      <span className="dot" style={{ background: color }} />
      <span className="wide">{text}</span>
    </Link>
  );
}

export function Shell(): ReactNode {
  const { who, hasKey, canWrite, signOut } = useSession();
  const [shown, setShown] = useState<'palette' | 'help' | undefined>();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useShortcuts(setShown);
  const close = () => setShown(undefined);
  return (
    <div className="shell">
      <aside className="sidebar">
        <Link to="/contexts" className="brand">
          <Mark />
          Cairn
        </Link>
        <nav className="nav" aria-label="Views">
          {navigation.map(({ path: to, label, icon: Icon, also = [] }) => (
            <Link
              key={to}
              to={to}
              aria-current={[to, ...also].some((base) => path.startsWith(base)) ? 'page' : undefined}
            >
              <Icon aria-hidden="true" />
              {label}
            </Link>
          ))}
        </nav>
        <div className="sidebar-foot">
          <span className="clip" title={who.tenant_id}>
            Tenant {who.tenant_id}
          </span>
          {who.agent_id && <span className="clip">as agent {who.agent_id}</span>}
          {who.user_id && <span className="clip">as user {who.user_id}</span>}
          {!canWrite && <span>Read only</span>}
          <a href="/reference">API reference</a>
        </div>
      </aside>
      <header className="topbar">
        <button type="button" className="palette-trigger grow" onClick={() => setShown('palette')}>
          <SearchIcon aria-hidden="true" />
          <span className="grow clip" style={{ textAlign: 'left' }}>
            Search memory, or go to …
          </span>
          <kbd className="wide">/</kbd>
        </button>
        <span className="grow wide" />
        <Connection />
        <ThemeButton />
        {hasKey && (
          <IconButton label="Sign out" onClick={signOut}>
            <LogOut />
          </IconButton>
        )}
      </header>
      <main className="view" id="view">
        <Outlet />
      </main>
      {shown === 'palette' && <Palette onClose={close} />}
      {shown === 'help' && <Shortcuts onClose={close} />}
      <Toasts />
    </div>
  );
}
