import type { Schemas } from "../../api/client";

const NOW = {
  current: "is here",
  same: "is still here",
  moved: "is now here",
  gone: "is gone",
  unknown: "cannot be followed: that version is not kept any more",
};

/** Says where the text of an older version's link is now. */
export function OldLink({ link }: { link: Schemas["LinkAnswer"] }) {
  return (
    <div class="stale" role="status">
      <p>
        This link was made under version {link.version}: the text {NOW[link.status ?? "current"]}.
      </p>
      {link.quote && <blockquote tabIndex={0}>{link.quote}</blockquote>}
    </div>
  );
}
