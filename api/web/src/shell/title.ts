import { useEffect } from 'preact/hooks';

export function useTitle(text: string): void {
  useEffect(() => {
    document.title = text === '' ? 'Faultline' : `${text} · Faultline`;
  }, [text]);
}
