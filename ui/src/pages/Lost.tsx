import { Empty } from "../components/States";
import { href } from "../state/router";

export default function Lost() {
  return (
    <Empty title="There is no such page" first>
      <p>
        <a class="button" href={href("/")}>
          Ask a question
        </a>
      </p>
    </Empty>
  );
}
