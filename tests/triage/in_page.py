"""What a person does on the labelling page in a browser."""

from selenium.webdriver.common.action_chains import ActionChains


def press(page, key):
    ActionChains(page.driver).send_keys(key).perform()


def row_of(page):
    return int(page.script("document.querySelector('.card').dataset.row"))


def after(page, key):
    """The row that is shown once a key has had its effect."""
    before = row_of(page)
    press(page, key)
    page.wait(f"document.querySelector('.card').dataset.row !== '{before}'")
    return row_of(page)
