#!/usr/bin/env bash
# Makes the book of docs/ with mdBook into target/book: searchable, readable offline, a page for each code of an error.
source "$(dirname "$0")/lib.sh"

[[ -x $wed ]] || scripts/build.sh
mdbook=${MDBOOK:-$(command -v mdbook || true)}
if [[ -z $mdbook ]]; then
  tool mdbook 0.5.4
  mdbook=$tools/bin/mdbook
fi

book=$PWD/$target/book-work
rm -rf "$book"
mkdir -p "$book/src/errors"
cp -r docs/guide docs/reference docs/explanation docs/decisions docs/pictures "$book/src/"
# Pages of the repository's root lie two folders above docs/guide; here they are one above.
for page in README ARCHITECTURE CHANGELOG CONTRIBUTING SECURITY; do
  sed 's#](docs/#](#g' "$page.md" >"$book/src/$page.md"
done
find "$book/src" -mindepth 2 -name '*.md' -exec sed -i 's#](\.\./\.\./\(README\|ARCHITECTURE\|CHANGELOG\|CONTRIBUTING\|SECURITY\)\.md#](../\1.md#g' {} +

title() { sed -n 's/^# //p;T;q' "$1"; }
entry() { # entry FILE INDENT
  printf '%s- [%s](%s)\n' "$2" "$(title "$book/src/$1")" "$1"
}

summary_page() {
  local page
  printf '# Summary\n\n[Wedflow](README.md)\n\n# Guides\n\n'
  for page in installing first-flow authoring guests constraints process-language worklists console recovery operations \
    servers cluster clusters moving-a-tenant assistants moving; do
    entry "guide/$page.md" ''
  done
  printf '\n# How it works\n\n'
  for page in "$book"/src/explanation/*.md; do entry "explanation/${page##*/}" ''; done
  entry ARCHITECTURE.md ''
  printf -- '- [Decisions]()\n'
  for page in "$book"/src/decisions/*.md; do entry "decisions/${page##*/}" '  '; done
  printf '\n# Reference\n\n'
  for page in "$book"/src/reference/*.md; do
    entry "reference/${page##*/}" ''
    if [[ $page == */errors.md ]]; then
      for page in "$book"/src/errors/*.md; do entry "errors/${page##*/}" '  '; done
    fi
  done
  printf '\n-----------\n\n[Changes](CHANGELOG.md)\n[Contributing](CONTRIBUTING.md)\n[Security](SECURITY.md)\n'
}

# A page for each code: what it means, what to do, and the pages that speak of it.
"$wed" --json explain | python3 scripts/error-pages.py "$book/src"
summary_page >"$book/src/SUMMARY.md"
for page in "$book"/src/guide/*.md; do
  grep -qF "(guide/${page##*/})" "$book/src/SUMMARY.md" || fail "the book's summary lacks docs/guide/${page##*/}"
done
cat >"$book/book.toml" <<END
[book]
title = "Wedflow"
language = "en"
src = "src"

[build]
build-dir = "$PWD/$target/book"
create-missing = false

[output.html]
no-section-label = true

[output.html.search]
limit-results = 30
use-boolean-and = true

[output.html.fold]
enable = true
level = 0
END
"$mdbook" build "$book"
rm -rf "$book"
say "The book is in $target/book/index.html."
