// Light and dark, and the search. The index, search_index.js, is read when the search is first used:
// SECTIONS is a list of [address, page, heading, text].
(() => {
  const up = document.currentScript.dataset.up;
  const root = document.documentElement;
  const kept = (() => { try { return localStorage.getItem('theme'); } catch { return null; } })();
  if (kept) root.dataset.theme = kept;

  let sections;
  function load() {
    sections = sections || new Promise((done) => {
      const script = document.createElement('script');
      script.src = up + 'search_index.js';
      script.onload = () => done(SECTIONS.map((one) =>
        [...one, one[1].toLowerCase(), one[2].toLowerCase(), one[3].toLowerCase()]));
      document.head.append(script);
    });
    return sections;
  }

  // The sections with all words: those with words in their heading or their page's title first.
  function search(all, words) {
    const found = [];
    for (const one of all) {
      let score = 0;
      const has = words.every((word) => {
        const places = [one[5].includes(word) * 8, one[4].includes(word) * 4, one[6].includes(word)];
        score += places.reduce((a, b) => a + Number(b), 0) + (one[5] === word) * 8;
        return places.some(Boolean);
      });
      if (has) found.push([score, one]);
    }
    return found.sort((a, b) => b[0] - a[0]).slice(0, 20).map((pair) => pair[1]);
  }

  // Text around the first word, with all words marked.
  function extract(one, words) {
    const at = Math.max(0, Math.min(...words.map((word) => {
      const k = one[6].indexOf(word);
      return k < 0 ? Infinity : k;
    }).concat(one[3].length ? one[3].length - 1 : 0)) - 40);
    const line = document.createElement('span');
    const pattern = new RegExp('(' + words.map((word) =>
      word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') + ')', 'ig');
    one[3].slice(at, at + 160).split(pattern).forEach((part, k) => {
      const piece = k % 2 ? document.createElement('mark') : document.createTextNode('');
      piece.textContent = part;
      line.append(piece);
    });
    return line;
  }

  addEventListener('DOMContentLoaded', () => {
    const query = document.getElementById('query');
    const found = document.getElementById('found');
    const pages = document.querySelector('.pages');
    if (matchMedia('(max-width: 48rem)').matches) pages.open = false;

    document.getElementById('theme').onclick = () => {
      const dark = root.dataset.theme ? root.dataset.theme === 'dark'
        : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
      try { localStorage.setItem('theme', root.dataset.theme); } catch { /* not kept */ }
    };

    async function show() {
      const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
      found.hidden = words.length === 0;
      if (found.hidden) return;
      const list = search(await load(), words);
      found.replaceChildren(...list.map((one) => {
        const item = document.createElement('li'), link = document.createElement('a');
        const title = document.createElement('b');
        title.textContent = one[1] === one[2] ? one[1] : one[1] + ': ' + one[2];
        link.href = up + one[0];
        link.append(title, extract(one, words));
        item.append(link);
        return item;
      }));
      if (list.length === 0) found.textContent = 'Nothing has all of these words.';
    }

    query.oninput = show;
    query.onkeydown = (event) => {
      const links = [...found.querySelectorAll('a')];
      const at = links.findIndex((link) => link.classList.contains('chosen'));
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && links.length) {
        event.preventDefault();
        if (at >= 0) links[at].classList.remove('chosen');
        const next = links[(at + step + links.length) % links.length];
        next.classList.add('chosen');
        next.scrollIntoView({ block: 'nearest' });
      } else if (event.key === 'Enter' && links.length) {
        location.href = links[Math.max(at, 0)].href;
      } else if (event.key === 'Escape') {
        query.value = '';
        show();
      }
    };
    document.onkeydown = (event) => {
      if (event.key === '/' && document.activeElement !== query) {
        event.preventDefault();
        query.focus();
      }
    };
    document.onclick = (event) => { if (!event.target.closest('search')) found.hidden = true; };
    const asked = new URLSearchParams(location.search).get('q');
    if (asked) { query.value = asked; show(); }
  });
})();
